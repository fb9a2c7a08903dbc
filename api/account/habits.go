package account

import (
	"time"

	"tillwatch/api"
)

// habits is what usually happens to this account's intents, as far as known.
type habits struct {
	elsewhere bool          // others confirm this account's intents
	confirms  confirms      // when they do
	placing   time.Duration // the time within which 95 % of orders are placed; 0 while unknown
}

func (t *intents) habits() habits {
	h := habits{elsewhere: t.confirms.balance > 0, placing: t.pace.usual(api.PlacingOrder)}
	if h.elsewhere {
		h.confirms = confirms{t.confirms.delays, t.pace.placing()}
	}
	return h
}
