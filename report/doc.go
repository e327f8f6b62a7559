// Package report writes what a fit found as one HTML page: what was fitted and whether it finished, what the groups are,
// where they lie, how sure each row is, and how the climb went. Pictures are inside as SVG, nothing is loaded from
// anywhere, and names and cells are escaped.
//
//	rows, err := report.Gather(ctx, r.Fitted, src, 0)
//	err = report.Write(w, report.Page{Result: r, Rows: rows})
package report
