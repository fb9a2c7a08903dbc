// Tillwatch is a terminal dashboard for sellers on the Universal Checkout API.
package main

import (
	"os"

	"tillwatch/ui/command"
)

func main() {
	os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
