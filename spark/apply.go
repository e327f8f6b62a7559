package spark

import (
	"context"
	"strings"

	"github.com/latent-go/latent/data"
)

// Pieces are the pieces of a table as Spark reads it, each of which is served on its own.
type Pieces struct {
	app    *App
	n      int
	Format *data.PieceFormat
	Names  []string // of all columns
}

// Open lets Spark open a table. The caller must Close it, which ends the application.
func Open(ctx context.Context, c Config, in Input, o data.Options) (*Pieces, error) {
	a, err := Start(ctx, c)
	if err != nil {
		return nil, err
	}
	p := &Pieces{app: a}
	of, err := a.open(ctx, &in)
	if err == nil {
		p.n = of.N
		p.Format, p.Names, err = data.FormatPieces(ctx, pieces{a}, of, o)
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return p, nil
}

// Close ends the application.
func (p *Pieces) Close() error { return p.app.Close() }

// Each lets the Handler of workers serve job for every piece and returns the answers in order.
func (p *Pieces) Each(ctx context.Context, job []byte) ([][]byte, error) {
	return pieces{p.app}.apply(ctx, job, p.n)
}

// Save does the same and lets Spark write the answers, cells of the columns that data.Create writes in the format "cells", to a folder: as parquet or
// csv, whole or not at all.
func (p *Pieces) Save(ctx context.Context, job []byte, columns []data.OutColumn, format, folder string) error {
	var schema strings.Builder
	for _, c := range columns {
		schema.WriteString(string("ids"[c.Kind]) + "\t" + c.Name + "\n")
	}
	folder, err := Path(folder)
	if err != nil {
		return err
	}
	_, err = p.app.call(ctx, 'S', append([]byte{applyPiece}, job...), []byte(schema.String()), []byte(format), []byte(folder))
	return err
}
