package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// encodeVNNI writes the instructions of AVX-VNNI as bytes: Go's assembler knows them in the encoding of AVX-512 alone, which a processor
// without AVX-512 does not have. Intel's manual, volume 2, section 2.3: VEX.256.66.0F38.W0 50 /r is VPDPBUSD, 52 /r VPDPWSSD.
func encodeVNNI(f *ir.Function) error {
	var nodes []ir.Node
	for _, n := range f.Nodes {
		i, _ := n.(*ir.Instruction)
		opcode, known := byte(0), false
		if i != nil {
			opcode, known = map[string]byte{"VPDPBUSD": 0x50, "VPDPWSSD": 0x52}[i.Opcode]
		}
		if !known || i.Operands[2].(reg.Register).Size() != 32 {
			nodes = append(nodes, n)
			continue
		}
		var number [3]byte
		for k, o := range i.Operands {
			number[k] = byte(o.(reg.Physical).PhysicalIndex())
			if number[k] > 15 {
				return fmt.Errorf("%s: %s needs registers that AVX2 does not have", f.Name, i.Opcode)
			}
		}
		second, first, sum := number[0], number[1], number[2]
		const map0F38, prefix66, bits256 = 0x02, 0x01, 0x04
		code := [5]byte{0xc4, (^sum>>3&1)<<7 | 1<<6 | (^second>>3&1)<<5 | map0F38, (^first&15)<<3 | bits256 | prefix66, opcode, 0xc0 | (sum&7)<<3 | second&7}
		nodes = append(nodes,
			&ir.Comment{Lines: []string{fmt.Sprintf("%s %s, %s, %s", i.Opcode, i.Operands[0].Asm(), i.Operands[1].Asm(), i.Operands[2].Asm())}},
			&ir.Instruction{Opcode: "LONG", Operands: []operand.Op{operand.U32(uint32(code[0]) | uint32(code[1])<<8 | uint32(code[2])<<16 | uint32(code[3])<<24)}},
			&ir.Instruction{Opcode: "BYTE", Operands: []operand.Op{operand.U8(code[4])}})
		f.ISA = []string{"AVX", "AVX2", "AVXVNNI", "FMA3"}
	}
	f.Nodes = nodes
	return nil
}
