// Package action defines what a person can do on the dashboard, as data: help,
// footer, palette and read-only mode all derive from one table.
package action

// ID names an action, in the configuration too.
type ID string

// The actions of the dashboard.
const (
	FocusNext       ID = "focus-next"
	FocusPrevious   ID = "focus-previous"
	FocusPane1      ID = "focus-pane-1"
	FocusPane2      ID = "focus-pane-2"
	FocusPane3      ID = "focus-pane-3"
	FocusPane4      ID = "focus-pane-4"
	FocusPane5      ID = "focus-pane-5"
	FocusPane6      ID = "focus-pane-6"
	FocusDetail     ID = "focus-detail"
	Up              ID = "up"
	Down            ID = "down"
	Left            ID = "left"
	Right           ID = "right"
	Top             ID = "top"
	Bottom          ID = "bottom"
	PageUp          ID = "page-up"
	PageDown        ID = "page-down"
	Open            ID = "open"
	Back            ID = "back"
	Filter          ID = "filter"
	ClearFilter     ID = "clear-filter"
	FilterAlike     ID = "filter-alike"
	Sort            ID = "sort"
	ReverseSort     ID = "reverse-sort"
	Jump            ID = "jump"
	FindText        ID = "find-text"
	FindNext        ID = "find-next"
	FindPrevious    ID = "find-previous"
	CopyPosition    ID = "copy-position"
	Freeze          ID = "freeze"
	Zoom            ID = "zoom"
	Confirm         ID = "confirm"
	Mark            ID = "mark"
	MarkAll         ID = "mark-all"
	Unmark          ID = "unmark"
	ConfirmMarked   ID = "confirm-marked"
	StopBatch       ID = "stop-batch"
	Refresh         ID = "refresh"
	CopyID          ID = "copy-id"
	OpenLink        ID = "open-link"
	Export          ID = "export"
	ExportAs        ID = "export-as"
	Reveal          ID = "reveal"
	Acknowledge     ID = "acknowledge"
	Mute            ID = "mute"
	Digest          ID = "digest"
	GroupOrders     ID = "group-orders"
	ToggleIntents   ID = "toggle-intents"
	ToggleShipments ID = "toggle-shipments"
	ToggleQuota     ID = "toggle-quota"
	ToggleEvents    ID = "toggle-events"
	Pulse           ID = "pulse"
	Usage           ID = "usage"
	Failures        ID = "failures"
	NextSpan        ID = "next-span"
	NextChart       ID = "next-chart"
	NextTheme       ID = "next-theme"
	Help            ID = "help"
	Palette         ID = "palette"
	ToggleMouse     ID = "toggle-mouse"
	Reconnect       ID = "reconnect"
	Record          ID = "record"
	Redraw          ID = "redraw"
	Suspend         ID = "suspend"
	Quit            ID = "quit"
)

// Group is an action's section in the help.
type Group string

// The groups, in the order of the help.
const (
	Common   Group = "Common" // the most needed ones, of all groups
	Focus    Group = "Focus"
	Move     Group = "Move"
	Intents  Group = "Intents"
	Find     Group = "Find"
	View     Group = "View"
	General  Group = "General"
	Time     Group = "Time"     // in a replay
	Commands Group = "Commands" // from the configuration
)

// Groups lists the groups in the order of the help.
func Groups() []Group { return []Group{Time, Focus, Move, Intents, Find, View, General, Commands} }

// Scope is where an action's keys count. Two actions may share a key only if their
// scopes do not overlap.
type Scope string

// The scopes. Everywhere includes the others.
const (
	Everywhere Scope = ""
	Board      Scope = "board"  // the panes
	Detail     Scope = "detail" // the detail of one thing, above the panes
)

// Overlaps reports whether a key can count in both scopes.
func (s Scope) Overlaps(other Scope) bool {
	return s == other || s == Everywhere || other == Everywhere
}

// Action is one thing that a person can do.
type Action struct {
	ID        ID
	Keys      []string // as [ParseKey] writes them; the first is shown
	Title     string   // an imperative, in the help and the palette
	Tooltip   string   // one sentence
	Short     string   // one word or two for the footer; empty keeps it out
	Group     Group
	Scope     Scope
	Dangerous bool // spends money; disabled while read-only

	rank int // in the footer; smaller is more useful
}

// Last is the action, ranked last in the footer.
func (a Action) Last() Action {
	a.rank = lastRank
	return a
}

// lastRank is greater than every rank of the default table.
const lastRank = 1000

// Key is the action's shown key, or "" for none.
func (a Action) Key() string {
	if len(a.Keys) == 0 {
		return ""
	}
	return ShowKey(a.Keys[0])
}
