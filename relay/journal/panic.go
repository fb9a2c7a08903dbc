package journal

import "fmt"

// Recovered turns a panic into an error. A function defers it when its panic must
// not end the process.
func Recovered(err *error) {
	if panicked := recover(); panicked != nil {
		*err = fmt.Errorf("panic: %v", panicked)
	}
}
