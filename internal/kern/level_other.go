//go:build !amd64 || purego

package kern

func detect() Level { return Go }
