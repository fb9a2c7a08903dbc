// Tillwatch is a terminal dashboard for everyone who sells through the Universal
// Checkout API.
package main

import (
	"os"

	"tillwatch/ui/command"
)

func main() {
	os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
