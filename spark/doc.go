// Package spark fits rows that Apache Spark holds, on as many machines as it has, with the answer of one machine to the last bit.
//
// The driver starts a Spark application, a small Java program (folder java), and talks to it through its standard input and output. On every
// executor the application runs this program once more, as a child process, which keeps rows in memory and makes passes over them. Spark reads tables,
// places tasks, and repeats those whose machine was lost; a pass sends parameters and brings back sums, and no row.
//
// A program that fits on Spark is therefore started on other machines too, and has to serve there:
//
//	func main() {
//		spark.WorkIfAsked()
//		rows, info, err := spark.Load(ctx, spark.Config{Master: "yarn"}, spark.Input{Paths: []string{"hdfs:///sales/*.parquet"}}, data.Options{})
//		...
//		defer rows.Close()
//		result, err := latent.Fit(ctx, rows, latent.Spec{K: 5, Columns: info.Features})
//	}
package spark
