package account

import "time"

// Limit is one limit of the account: how much is used and when it runs out. The contract's five are always
// present, in its order. It is immutable.
type Limit struct {
	Name          LimitName     `json:"name"`
	Window        time.Duration `json:"windowNs,omitzero"` // 0 for the agents: a slot returns when its order ends
	Limit         Figure        `json:"limit"`
	Used          Figure        `json:"used"`             // by everybody; for a short window the latest known
	At            time.Time     `json:"at,omitzero"`      // when Used was true; zero while unknown
	Pace          float64       `json:"pace,omitempty"`   // used an hour, by the last 15 minutes; 0 for the agents
	RunsOut       time.Time     `json:"runsOut,omitzero"` // at that pace; zero if not within the window
	Returns       time.Time     `json:"returns,omitzero"` // when the first used slots return; zero while unknown
	Series[Level]               // only for the day and the agents
}

// LimitName names a limit of the contract. The first three are endpoint classes.
type LimitName string

// The limits of the contract.
const (
	LimitReads     LimitName = "reads"
	LimitMutations LimitName = "mutations"
	LimitLookup    LimitName = "lookup"
	LimitDay       LimitName = "day"    // intents created
	LimitAgents    LimitName = "agents" // intents whose orders are being placed
)

// Left returns what is left of the limit, as far as both figures are known.
func (l *Limit) Left() Figure {
	return Figure{N: max(l.Limit.N-l.Used.N, 0), Grounds: min(l.Limit.Grounds, l.Used.Grounds)}
}

// Level is the most that was used of a limit at once in one second, minute or hour.
type Level struct {
	At   time.Time `json:"at"` // its start
	Used int       `json:"used"`
}

// Figure is a number and what it is based on.
type Figure struct {
	N       int     `json:"n"`
	Grounds Grounds `json:"grounds"`
}

// Grounds is what a figure is based on, from the least to the most certain.
type Grounds uint8

// The grounds.
const (
	NotKnown Grounds = iota // the figure means nothing
	Assumed                 // the contract's or the settings' default
	Inferred                // from headers and counts: a lower bound
	Counted                 // what was seen: there may be more
	Told                    // the service's headers or refusals say so
)

// String returns the name.
func (g Grounds) String() string {
	return [...]string{"unknown", "assumed", "inferred", "counted", "told"}[min(g, Told)]
}

// MarshalText returns the name.
func (g Grounds) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText takes an unknown name for [NotKnown].
func (g *Grounds) UnmarshalText(word []byte) error {
	*g = stateOfWord(word, Told)
	return nil
}
