package sign

import "tillwatch/api/account"

// Grounds is what stands before a figure that the service has not told: it is at
// least so much, about so much, or as it is assumed to be.
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
