//go:build race

package forward

// unlessRaced is how much a test does: a part of it under the race detector, where
// simulated time passes a hundred times more slowly and a race shows soon or never.
func unlessRaced(_, part int) int { return part }
