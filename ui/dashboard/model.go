package dashboard

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/themes"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/canvas"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/notify"
)

// board is a pane as the root sees it. What else a pane can do is found by
// small interfaces.
type board interface {
	SetSize(w, h int)
	SetStacked(bool)
	SetEdge(bool)
	SetFocus(bool)
	Invalidate()
	Stale() bool
	Lines() []string
}

// applier is a pane that takes data.
type applier interface {
	Apply(c *account.Changes, first bool)
}

// forgetter is a pane that can start over: its cursor returns to its row, should
// that come back.
type forgetter interface{ Forget() }

// mover is a pane with a cursor or a scroll position.
type mover interface{ Move(pane.Step) }

// pointed is a pane that the mouse can point into.
type pointed interface {
	Click(x, y int) (row bool) // whether a row is there
	Wheel(x, y, delta int)
}

// tabbed is a pane whose title names others that share its place.
type tabbed interface {
	Tab(x, y int) (at int, ok bool)
}

// subjected is a pane whose cursor is on something.
type subjected interface{ Subject() pane.Subject }

// sortable is a pane whose rows can be ordered by its columns.
type sortable interface {
	Sort(reverse bool) (name string)
}

// filtered is a pane whose rows can be filtered.
type filtered interface {
	Fields() []pane.Field
	SetFilter(*pane.Filter)
	Matches() (shown, total int)
}

// tickMsg moves the clock and the ages, once a second.
type tickMsg struct{}

// Model is the root of the dashboard, and its only tea.Model.
type Model struct {
	cfg     Config
	ctx     context.Context // ends with the program; a confirm under way is told by it
	job     *job            // nil where nothing is drawn, in tests
	noShell bool            // nobody could continue the program
	canvas  *canvas.Canvas  // the same
	picture *picture
	awaited bool // the picture comes in a moment: nothing is drawn without it
	look    *pane.Look
	theme   themes.Theme // as chosen
	profile colorprofile.Profile

	width, height int
	layout        layout.Layout
	focus         layout.Pane
	tab           layout.Pane // which of events, requests and alerts is on the screen
	before        layout.Pane // had the focus before the detail was opened
	zoom          bool        // the focused pane has the place of all
	zoomed        layout.Pane // had the focus when that began
	arranged      Layout      // by a person
	detailOpen    bool
	panes         [layout.Panes]board
	intents       *pane.Intents
	detail        *pane.Detail
	opened        opened // of the intent that the detail shows

	frozen   *frozen  // nil while the screen follows
	filter   *typing  // nil unless a filter is being typed
	jump     *jumping // nil unless an id is being typed
	trail    trail
	filters  [layout.Panes]*pane.Filter
	toast    toast
	dialog   dialogs
	notifier *notify.Notifier
	quiet    patience
	runs     map[api.ID]*confirmRun
	marks    map[api.ID]bool // to be confirmed together
	stayed   pane.Subject    // the last row, since it was marked under the cursor
	queue    *queue          // nil unless a batch is under way
	// confirms counts the goroutines that confirm, so that Run can wait.
	confirms *sync.WaitGroup

	track     track     // of the scrubber as last drawn
	markCells markCells // the same

	quitting    bool
	noMouse     bool
	lightGround bool
	replayFrom  int64 // the cursor when a history began to load, or noReplay
	newKeys     int   // pressed by somebody who is new here
	line        *paint.Line
	blanks      map[int]string // blanks by their width
	ends        map[int]string // the same where the screen ends
	rows        []string       // of several panes, as last drawn
	row         []byte         // being drawn
	hints       footerCache
	clicked     clicked   // last
	drawn       []string  // the screen as last drawn
	clock       time.Time // of what is shown; it goes by seconds
	redraw      bool      // something besides the panes has changed
}

// frozen is a screen that is held.
type frozen struct {
	at      time.Time
	version uint64
	events  int // received when the screen was frozen
}

// New makes the model. [Run] shows it; tests drive it with messages.
func New(cfg Config) *Model {
	cfg = cfg.withDefaults()
	m := &Model{
		tab: layout.Events, cfg: cfg, ctx: context.Background(), picture: newPicture(), theme: cfg.Theme,
		profile: colorprofile.TrueColor, runs: map[api.ID]*confirmRun{}, marks: map[api.ID]bool{}, confirms: &sync.WaitGroup{},
		noMouse: cfg.NoMouse, redraw: true, replayFrom: noReplay,
	}
	if cfg.NoColor {
		m.profile = colorprofile.ASCII
	}
	m.notifier = notify.New(notify.Config{Method: cfg.Notify})
	m.clock = cfg.Now()
	m.look = &pane.Look{Now: m.clock, Location: cfg.Location}
	m.look.Keys = pane.Keys{Follow: m.keyOf(action.Bottom), ShowAll: m.keyOf(action.ClearFilter), Span: m.keyOf(action.NextSpan)}
	m.intents = pane.NewIntents(m.look, cfg.ConfirmWindow)
	m.detail = pane.NewDetail(m.look, cfg.ConfirmWindow)
	m.panes = [layout.Panes]board{
		layout.Intents: m.intents, layout.Shipments: pane.NewShipments(m.look),
		layout.Quota: pane.NewQuota(m.look), layout.Events: pane.NewEvents(m.look),
		layout.Requests: pane.NewRequests(m.look), layout.Alerts: pane.NewAlerts(m.look), layout.Detail: m.detail,
	}
	m.recall(cfg.Remembered)
	m.restyle()
	m.look.Health = m.health()
	m.setFocus(layout.Intents)
	if m.hidden().Has(m.focus) {
		m.focusBy(1)
	}
	if cfg.Warning != "" {
		m.say(warning, cfg.Warning)
	}
	m.sayUnsettled()
	return m
}

// Init starts the clock.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.tick(), m.awaitTheme(), m.askTerminal(), m.awaitPicture())
}

// tick comes with the next full second.
func (m *Model) tick() tea.Cmd {
	if m.cfg.Transport != nil {
		return m.after(m.transportTick(), tickMsg{})
	}
	now := time.Now()
	return m.after(now.Truncate(time.Second).Add(time.Second).Sub(now), tickMsg{})
}

// after sends a message later, or nothing once the program has ended.
func (m *Model) after(d time.Duration, msg tea.Msg) tea.Cmd {
	ctx := m.ctx
	return func() tea.Msg {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return msg
		case <-ctx.Done():
			return nil
		}
	}
}

// Update takes a message: keys go to the focused pane or the dialog, sizes to
// each pane, data to all.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.waitNoMore(msg)
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg)
	case tellMsg:
		if m.canvas != nil {
			m.canvas.Tell(string(msg))
		}
	case tea.ModeReportMsg:
		if m.canvas != nil {
			m.canvas.Learn(msg.Mode, msg.Value)
		}
	case tea.ColorProfileMsg:
		if !m.cfg.NoColor && msg.Profile != m.profile {
			m.profile = msg.Profile
			m.restyle()
		}
	case tea.BackgroundColorMsg:
		m.suitGround(msg)
	case themeMsg:
		m.changeTheme(msg.Change)
		return m, m.awaitTheme()
	case changesMsg:
		return m, tea.Batch(m.apply(&msg.Changes), m.feedQueue())
	case tickMsg:
		m.advance(m.cfg.Now())
		return m, tea.Batch(m.tick(), m.notify(), m.feedQueue())
	case continuedMsg:
		return m, m.leaveTerminal(&suspension{job: m.job, screen: m.canvas, over: true})
	case resumedMsg:
		m.resumed(msg)
	case tea.FocusMsg:
		m.notifier.Focus()
	case tea.BlurMsg:
		m.notifier.Blur()
	case quietMsg:
		return m, m.quiet.heard(m, msg)
	case uv.PrimaryDeviceAttributesEvent:
		return m, m.quiet.answered(m)
	case silenceMsg:
		return m, m.quiet.silent(m, msg)
	case stageMsg:
		return m, m.stage(msg)
	case outcomeMsg:
		return m, m.outcome(msg)
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		return m, m.paste(msg)
	case tea.MouseMsg:
		return m, m.mouse(msg)
	}
	return m, nil
}

// advance moves the clock. Each pane draws again, for its ages: they all go by
// this clock, so that nothing but what has changed moves between two seconds.
func (m *Model) advance(now time.Time) {
	m.redraw, m.clock = true, now
	m.dialog.setNow(now)
	m.judge()
	if m.frozen == nil {
		m.look.Now = now
		m.agingFilters()
		m.invalidate()
	}
}

// agingFilters looks again at rows that come to match, or cease to, as they
// grow older.
func (m *Model) agingFilters() {
	for i, f := range m.filters {
		if f.Aging() {
			m.setFilter(layout.Pane(i), f)
		}
	}
}

// apply takes over what changed: into the picture at once, onto the screen
// unless it is frozen.
func (m *Model) apply(c *account.Changes) tea.Cmd {
	first := c.Whole || !m.picture.started
	wasLive := m.environment().Live
	m.picture.apply(c, m.frozen != nil)
	if m.environment().Live != wasLive {
		m.restyle() // the frame is tinted where money is real
	}
	m.forgetOpened(c)
	m.watchReplay()
	m.notifier.Observe(c)
	m.redraw = true
	if first || m.cfg.Transport != nil { // the clock of a replay may have gone anywhere
		m.clock = m.cfg.Now()
		if m.frozen == nil {
			m.look.Now = m.clock
			m.invalidate()
		}
	}
	m.judge()
	if m.frozen == nil {
		m.show(c, first)
	}
	m.keepMarks()
	return nil
}

func (m *Model) show(c *account.Changes, first bool) {
	if n := len(c.Summary.Alerts); n != m.look.Tabs.Alerts {
		m.look.Tabs.Alerts = n
		m.panes[m.tab].Invalidate()
	}
	for _, p := range m.panes {
		if p, ok := p.(forgetter); ok && c.Whole {
			p.Forget()
		}
		if p, ok := p.(applier); ok {
			p.Apply(c, first)
		}
	}
	m.feedDetail()
}

func (m *Model) invalidate() {
	m.redraw = true
	for _, p := range m.panes {
		p.Invalidate()
	}
}

// restyle prepares the styles of the theme for the terminal's colours.
func (m *Model) restyle() {
	t := m.theme.For(m.profile)
	m.look.Brush = paint.NewBrush(t, m.environment().Live)
	m.line, m.hints = paint.NewLine(m.look.Brush), footerCache{}
	m.blanks, m.ends = map[int]string{}, map[int]string{}
	m.dialog.setTheme(t)
	m.invalidate()
}

// arrange divides the screen again.
func (m *Model) arrange() {
	m.layout = layout.Arrange(layout.Request{
		Width: m.width, Height: m.boardHeight(), Focus: m.focus, Tab: m.tab, Zoom: m.zoom, Detail: m.detailOpen,
		Arrangement: m.arrangement(), Hidden: m.hidden(),
	})
	for i, p := range m.panes {
		r := m.layout.Panes[i]
		p.SetStacked(m.layout.Arrangement == layout.Narrow)
		p.SetEdge(r.X+r.W == m.width)
		p.SetSize(r.W, r.H)
	}
	m.redraw = true
}

func (m *Model) setFocus(to layout.Pane) {
	m.focus = to
	if layout.IsTab(to) {
		m.tab = to
	}
	for i, p := range m.panes {
		p.SetFocus(layout.Pane(i) == to)
	}
	m.arrange()
}

// freeze holds the screen, or lets it go on from where the picture is.
func (m *Model) freeze() {
	if m.frozen == nil {
		m.frozen = &frozen{at: m.cfg.Now(), version: m.picture.version, events: m.picture.summary.Events.Received}
		m.toast = toast{} // that the board is held is told at once
		m.invalidate()    // and what the next second would have drawn
		return
	}
	m.frozen = nil
	m.clock = m.cfg.Now()
	m.look.Now = m.clock
	m.judge()
	missed := m.picture.missed()
	m.show(&missed, false)
	m.invalidate()
}
