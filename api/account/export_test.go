package account

// UnlessRaced is unlessRaced for the tests outside the package.
func UnlessRaced(whole, part int) int { return unlessRaced(whole, part) }
