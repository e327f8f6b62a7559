package data

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Limits of what one page may claim beyond what its bytes make likely. A page of 64 Mi equal values takes a few
// bytes, and is the largest that the common writers make (one page for a whole row group of Arrow's former default).
const (
	maxPageValues = 64 << 20
	maxPageBytes  = 64 << 20
	maxRatio      = 1 << 16 // decompressed to compressed; zstd reaches half of it on zeros
)

// checkGroups adds up the rows, and checks for every flat column that its pages are there and hold as many values as
// its group has rows.
func (f *parquetFile) checkGroups() error {
	f.first = []int64{0}
	total := int64(0)
	for g, group := range f.file.Metadata().RowGroups {
		if group.NumRows < 0 || total+group.NumRows < total {
			return fileError(f.name, "row group %d says it has %d rows: the file is damaged", g+1, group.NumRows)
		}
		for _, c := range f.columns {
			if c.leaf < 0 {
				continue
			}
			if c.leaf >= len(group.Columns) {
				return columnError(f.name, c.name, "row group %d does not have it: the file is damaged", g+1)
			}
			chunk := &group.Columns[c.leaf]
			if chunk.CryptoMetadata.Value != nil {
				return columnError(f.name, c.name, "it is encrypted; save the file without encryption")
			}
			if chunk.FilePath != "" {
				return columnError(f.name, c.name, "its cells are in another file, %s; save the table as one file", chunk.FilePath)
			}
			if chunk.MetaData.Codec == format.Lz4Raw {
				// parquet-go 0.32 leaves pages undecoded that shrink to more than a third, and never ends on damaged ones.
				return columnError(f.name, c.name, "it is compressed with LZ4, which cannot be read; save the file with Snappy, Zstandard or no compression")
			}
			w := pageWalk{r: f.r, size: f.size}
			n, err := w.values(&chunk.MetaData, group.NumRows)
			if err != nil {
				return columnError(f.name, c.name, "row group %d: %v", g+1, err)
			}
			if n != group.NumRows {
				return columnError(f.name, c.name, "row group %d says it has %d rows, but the pages hold %d: the file is damaged", g+1, group.NumRows, n)
			}
		}
		total += group.NumRows
		f.first = append(f.first, total)
	}
	return f.checkNested()
}

// checkNested refuses a row count that no flat column bears out.
func (f *parquetFile) checkNested() error {
	for _, c := range f.columns {
		if c.leaf >= 0 {
			return nil
		}
	}
	return fileError(f.name, "all columns hold lists or groups; unnest them first")
}

// pageWalk goes from page header to page header.
type pageWalk struct {
	r    io.ReaderAt
	size int64
	buf  []byte
	deep bool // look at the compressed bytes too, which are Snappy
}

// values counts the values in the pages of a column chunk, nulls included.
func (w *pageWalk) values(m *format.ColumnMetaData, rows int64) (int64, error) {
	off := m.DataPageOffset
	if d := m.DictionaryPageOffset; d > 0 && d < off {
		off = d
	}
	end := off + m.TotalCompressedSize
	if rows == 0 {
		return 0, nil
	}
	if off < 0 || m.TotalCompressedSize < 0 || end < off || end > w.size {
		return 0, errors.New("its pages lie beyond the end of the file, which is cut short or damaged")
	}
	n := int64(0)
	for off < end && n < rows {
		h, headSize, err := w.header(off, end)
		if err != nil {
			return 0, err
		}
		body := off + headSize
		off = body + int64(h.CompressedPageSize)
		if off > end {
			return 0, errors.New("a page goes beyond the end of its column: the file is damaged")
		}
		values, err := pageValues(h)
		if err == nil && w.deep {
			err = w.unpacks(h, body)
		}
		if err != nil {
			return 0, err
		}
		n += values
	}
	return n, nil
}

// header reads the page header at off, trying again with more bytes where it holds long statistics.
func (w *pageWalk) header(off, end int64) (*format.PageHeader, int64, error) {
	for want := int64(128); ; want *= 16 {
		n := min(want, end-off)
		w.buf = resized(w.buf, int(n))
		if err := readFull(w.r, w.buf, off, ""); err != nil {
			return nil, 0, err
		}
		h := new(format.PageHeader)
		protocol := thrift.CompactProtocol{}
		r := protocol.NewReaderFromBytes(w.buf)
		err := thrift.NewDecoder(r).Decode(h)
		if err == nil {
			return h, int64(r.BytesRead()), nil
		}
		if n == end-off || want > 64<<20 {
			return nil, 0, errors.New("a page header is damaged")
		}
	}
}

// pageValues returns the number of rows of a data page, 0 for other pages, after a look at what the page claims.
func pageValues(h *format.PageHeader) (int64, error) {
	packed, bytes := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	if packed < 0 || bytes < 0 || bytes > maxPageBytes && bytes/maxRatio > packed {
		return 0, errors.New("the size of a page is not possible: the file is damaged")
	}
	var n int32
	rows := true
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		n = h.DataPageHeader.V.NumValues
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		n = h.DataPageHeaderV2.V.NumValues
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		n, rows = h.DictionaryPageHeader.V.NumValues, false
		if int64(n) > 8*bytes {
			n = -1
		}
	case h.Type == format.IndexPage:
		rows = false
	default:
		return 0, errors.New("a page header is damaged")
	}
	if n < 0 || n > maxPageValues && int64(n) > 8*bytes {
		return 0, errors.New("the number of values in a page is not possible: the file is damaged")
	}
	if !rows {
		return 0, nil
	}
	return int64(n), nil
}

// checkPacked makes sure that the pages of a column chunk unpack to the size they claim. Only Snappy needs that: its
// decoder makes room for what the first bytes of a page say.
func (f *parquetFile) checkPacked(group, leaf int) error {
	g := &f.file.Metadata().RowGroups[group]
	m := &g.Columns[leaf].MetaData
	if m.Codec != format.Snappy {
		return nil
	}
	w := pageWalk{r: f.r, size: f.size, deep: true}
	_, err := w.values(m, g.NumRows)
	return err
}

// unpacks checks the Snappy body of a page, which stands at off: it starts with its unpacked size.
func (w *pageWalk) unpacks(h *format.PageHeader, off int64) error {
	n, want := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	if h.Type == format.DataPageV2 { // the levels stand before and are not compressed
		v := &h.DataPageHeaderV2.V
		if v.IsCompressed.Valid && !v.IsCompressed.V {
			return nil
		}
		levels := int64(v.RepetitionLevelsByteLength) + int64(v.DefinitionLevelsByteLength)
		if v.RepetitionLevelsByteLength < 0 || v.DefinitionLevelsByteLength < 0 || levels > n || levels > want {
			return errors.New("the size of a page is not possible: the file is damaged")
		}
		off, n, want = off+levels, n-levels, want-levels
	}
	if n == 0 {
		return nil
	}
	w.buf = resized(w.buf, int(min(n, binary.MaxVarintLen64)))
	if err := readFull(w.r, w.buf, off, ""); err != nil {
		return err
	}
	if got, k := binary.Uvarint(w.buf); k <= 0 || got != uint64(want) {
		return errors.New("a page cannot be decompressed: the file is damaged")
	}
	return nil
}
