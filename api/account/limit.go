package account

import "time"

// Limit is one limit of the account: what is used of it, and when it runs out. The
// contract's five are always told, in its order. It is immutable.
type Limit struct {
	Name           LimitName     `json:"name"`
	Window         time.Duration `json:"windowNs,omitzero"` // after which what is used comes back; 0 for the agents, which end
	Limit          Figure        `json:"limit"`
	Used           Figure        `json:"used"`             // by everybody: of a short window the newest that is known
	At             time.Time     `json:"at,omitzero"`      // of what Used says; zero while it is not known
	Pace           float64       `json:"pace,omitempty"`   // used an hour, by the last quarter of an hour; of the agents 0
	RunsOut        time.Time     `json:"runsOut,omitzero"` // at that pace; zero where that is not within the window
	Returns        time.Time     `json:"returns,omitzero"` // when used slots return, or the first of them; zero while not known
	Courses[Level]               // of the day and the agents alone
}

// LimitName names a limit of the contract. The first three are classes of endpoints.
type LimitName string

// The limits of the contract.
const (
	LimitReads     LimitName = "reads"
	LimitMutations LimitName = "mutations"
	LimitLookup    LimitName = "lookup"
	LimitDay       LimitName = "day"    // intents created
	LimitAgents    LimitName = "agents" // intents whose orders are being placed
)

// Left is what is left of the limit, as far as both are known.
func (l *Limit) Left() Figure {
	return Figure{N: max(l.Limit.N-l.Used.N, 0), Grounds: min(l.Limit.Grounds, l.Used.Grounds)}
}

// Level is how much of a limit was used in one second, minute or hour: the most at
// once.
type Level struct {
	At   time.Time `json:"at"` // its start
	Used int       `json:"used"`
}

// Figure is a number with what it stands on.
type Figure struct {
	N       int     `json:"n"`
	Grounds Grounds `json:"grounds"`
}

// Grounds is what a figure stands on. What is more certain is more.
type Grounds uint8

// The grounds.
const (
	NotKnown Grounds = iota // the figure says nothing
	Assumed                 // the contract's or the settings' default
	Inferred                // from what headers say and what is counted: at least so much
	Counted                 // what was seen: there may be more that nobody saw
	Told                    // headers of the service, or its refusals, say so
)

// String is the grounds in a word.
func (g Grounds) String() string {
	return [...]string{"unknown", "assumed", "inferred", "counted", "told"}[min(g, Told)]
}

// MarshalText makes the grounds the word that they have in JSON.
func (g Grounds) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText takes a word that is not known for the first.
func (g *Grounds) UnmarshalText(word []byte) error {
	*g = stateOfWord(word, Told)
	return nil
}
