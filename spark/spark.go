// Package spark holds the Java part of fits on Apache Spark: an application of three small classes, as they were compiled from the files beside.
package spark

import (
	"embed"
	"io/fs"
)

//go:generate ./compile

//go:embed classes
var classes embed.FS

// Classes returns the compiled classes, by the paths they have in a jar.
func Classes() fs.FS {
	sub, err := fs.Sub(classes, "classes")
	if err != nil {
		panic(err) // the folder is in the program
	}
	return sub
}
