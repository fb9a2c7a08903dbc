package account

import (
	"time"

	"tillwatch/api"
)

// habits is how this account's intents mostly go, as far as it is known.
type habits struct {
	elsewhere bool          // somebody else confirms intents of this account
	confirms  confirms      // when, if so
	placing   time.Duration // in which 95 % of its orders are placed; 0 while not known
}

func (t *intents) habits() habits {
	h := habits{elsewhere: t.confirms.balance > 0, placing: t.pace.usual(api.PlacingOrder)}
	if h.elsewhere {
		h.confirms = confirms{t.confirms.delays, t.pace.placing()}
	}
	return h
}
