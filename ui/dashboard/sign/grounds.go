package sign

import "tillwatch/api/account"

// Grounds is the sign before a figure that the service has not reported: at least that
// much (≥), about that much (≈), or assumed (~).
func Grounds(g account.Grounds) string {
	switch g {
	case account.Counted:
		return "≥"
	case account.Inferred:
		return "≈"
	case account.Assumed:
		return "~"
	}
	return ""
}
