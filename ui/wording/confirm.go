package wording

import (
	"tillwatch/api"
	"tillwatch/api/account"
)

// ConfirmEnd says what the outcome of a confirm means for the order.
func ConfirmEnd(end account.ConfirmEnd) string {
	switch end {
	case account.ConfirmPlaced:
		return "taken: the order is placed, or being placed"
	case account.ConfirmLate:
		return "it counted as without effect, but reads show an order now: it was held on its way, or somebody else confirmed it"
	case account.ConfirmFailed:
		return "it was taken, but the order failed"
	case account.ConfirmNotDone:
		return "not taken: nothing was bought"
	case account.ConfirmRefused:
		return "refused: nothing was bought"
	case account.ConfirmNotSent:
		return "not sent: nothing was bought"
	case account.ConfirmExpired:
		return "the intent ended without an order: nothing was bought"
	case account.ConfirmLost:
		return "its outcome will never be known here: ask the service"
	}
	return string(api.Scrub(string(end)))
}

// Reads says what the reads since a confirm show: "7 reads since show it awaiting confirmation".
func Reads(c *account.Confirm) string {
	if c.Reads == 0 {
		return "no read since has been answered"
	}
	shows := " reads since show it "
	if c.Reads == 1 {
		shows = " read since shows it "
	}
	state := Name(string(c.Shown))
	if state == "" {
		state = "without a state"
	}
	return Count(c.Reads) + shows + state
}

// Doubt says how a confirm stands that is or was in doubt.
func Doubt(c *account.Confirm) string {
	if c.Ended.IsZero() {
		return "the outcome of its confirm is unknown: do not buy it again"
	}
	return "its confirm is settled: " + ConfirmEnd(c.End)
}
