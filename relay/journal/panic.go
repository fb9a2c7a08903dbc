package journal

import "fmt"

// Recovered turns a panic into an error. It is deferred by a function that others
// must not go down with.
func Recovered(err *error) {
	if panicked := recover(); panicked != nil {
		*err = fmt.Errorf("panic: %v", panicked)
	}
}
