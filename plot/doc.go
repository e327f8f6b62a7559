// Package plot draws still pictures of fits: scatters with ellipses, lines by sweep, bars with deviations, images side by side, criteria by
// k, heat maps, histograms, responsibilities and silhouettes. Each is written as SVG, for pages and files, or as PNG.
//
// A kind of picture is a struct that the caller fills: [Scatter], [Lines], [Bars], [Images], [Criterion], [HeatMap], [Matrix],
// [Histogram], [Shares], [Silhouette], [Panels]. Its method Figure lays the data out; the [Figure] is then written by
// [Figure.WriteSVG], [Figure.Inline] or [Figure.WritePNG]. Other pictures are made of a Figure and own layers, see [Layer].
//
// # Conventions
//
// The title states a finding; the caller knows it and gives it. Axes carry a label and a unit. Every figure has a text alternative: the
// caller's, or one counted from the data. Lengths are CSS pixels. The same input gives the same bytes.
//
// Values that are NaN, infinite or beyond 1e300, and values of 0 or less on a logarithmic axis, are left out, and a note under the figure says
// how many. A figure without data says so. No values panic.
//
// Data colours are those of Okabe and Ito (2008), made for colour-blind readers, without black and yellow, which vanish on one of the
// two backgrounds, and with a dark grey. Groups differ in shape as well. Text, axes, grid and background follow
// the reader's preference for dark or light: in a page by CSS variables, for which [CSS] is the style sheet, in a file by a style sheet of its own.
// No element has an id, so figures in one page cannot disturb each other, and nothing is loaded from anywhere.
//
// # Whose work this stands on
//
// Text metrics, paths, clipping, line styles and the raster canvas are those of gonum.org/v1/plot (vg, vg/draw, vg/vgimg, font): a well
// kept library whose canvases also give PDF, should it be asked for. Three things are our own. Its SVG canvas fixes colours and left edges of
// text and writes a picture as raw PNG under another type's name; ours keeps variables and anchors, and rounds to two decimals. Its
// top package registers every backend and twelve fonts, 7 MB in a binary where 1.5 MB do. So axes and ticks, some 150 lines, are ours too,
// and they also know names, units and a text alternative.
package plot
