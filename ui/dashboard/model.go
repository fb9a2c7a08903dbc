package dashboard

import (
	"context"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/canvas"
	"tillwatch/ui/dashboard/job"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/dashboard/replay"
	"tillwatch/ui/notify"
)

// tickMsg moves the clock and all ages, once a second.
type tickMsg struct{}

// shared is what the parts of the screen have in common.
type shared struct {
	cfg         *Config
	picture     *picture
	preferences *preferences
	notices     *notices
	clipboard   *clipboard
	board       *board
	themes      *themeChoice
	dialog      *dialogs
	work        *errands
}

// Model is the root of the dashboard, and its only [tea.Model]. It holds the parts of the
// screen and routes messages to them.
type Model struct {
	*shared
	ctx           context.Context // ends with the program; a running confirm ends with it
	job           *job.Job
	canvas        *canvas.Canvas // nil in tests, which draw nothing
	width, height int

	details   *details
	filters   *filters
	usage     *usage
	failures  *failures
	finder    *finder
	jump      *jump
	links     *links
	marks     *marks
	confirms  *confirms
	money     *moneyLine
	alerting  *alerting
	away      *away
	batch     *batch
	silence   *alertSilence
	exporting *exporting
	recorder  recorder
	saved     *savedFilters
	positions *positions
	pointer   *pointer
	welcome   *welcome
	replay    *replay.Bar // nil unless the Source replays
	asker     *asker
	consent   *consent
	verbs     *verbs
	own       *ownCommands
	in        io.Reader // the terminal
	out       io.Writer // the terminal
	footer    footer
	handlers  map[action.ID]handler
	notifier  *notify.Notifier

	look     *pane.Look
	line     *paint.Line
	drawn    []string  // the screen as last drawn
	clock    time.Time // the shown time; it moves once a second
	redraw   bool      // something outside the panes has changed
	awaited  bool      // the picture arrives in a moment: nothing is drawn before
	flooded  time.Time // when keys were last dropped
	foreign  bool      // the keyboard types letters that are not Latin
	quitting bool      // quit was pressed once while a confirm was running
	shown    shownRow  // the row under the cursor, as last drawn
}

// New makes the model. [Run] shows it; tests drive it with messages.
func New(cfg Config) *Model {
	cfg = cfg.withDefaults()
	c := &cfg
	m := &Model{shared: &shared{cfg: c, dialog: &dialogs{}, work: &errands{}}, ctx: context.Background(), redraw: true}
	m.job = job.New(m.ctx)
	m.clock = c.Now()
	m.look = &pane.Look{Now: m.clock, Location: c.Location}
	key := c.Actions.KeyOf
	m.look.Keys = pane.Keys{Follow: key(action.Bottom), ShowAll: key(action.ClearFilter), Span: key(action.NextSpan), Refresh: key(action.Refresh)}

	m.picture = newPicture(api.Environment{Name: c.Environment, Live: c.Live})
	m.preferences = newPreferences(c.Remembered, c.Remember)
	m.notices = &notices{cfg: c, picture: m.picture}
	m.clipboard = &clipboard{cfg: c, notices: m.notices, work: m.work, deaf: func() bool { return m.canvas != nil && m.canvas.Old() }}
	m.alerting = newAlerting(c, m.picture)
	m.notifier = notify.New(c.Notify, m.alerting.muted)
	m.board = newBoard(c, m.look, m.picture, m.preferences, m.notices, m.alerting)
	m.themes = newThemeChoice(c, m.preferences, m.notices)
	m.welcome = &welcome{cfg: c, preferences: m.preferences}
	if c.Transport != nil {
		m.replay = &replay.Bar{Transport: c.Transport, Now: c.Now, Location: c.Location}
	}
	m.addParts()
	m.notices.away = m.away.notice
	m.restyle()
	m.checkHealth()
	m.board.setFocus(layout.Intents)
	if m.preferences.hidden().Has(layout.Intents) {
		m.board.focusBy(1)
	}
	if n := len(validFilters(c.Remembered.Filters)); n > mostNamed {
		m.notices.say(warning, fmt.Sprintf("%d filters are saved, and %d shown: forget some to see the others", n, mostNamed))
	}
	if c.Filter != "" {
		m.saved.begin(c.Filter)
	}
	if p, err := parsePosition(c.At); c.At != "" && err != nil {
		m.notices.say(warning, err.Error())
	} else if c.At != "" {
		m.positions.start = &startPosition{position: p}
	}
	if c.Warning != "" {
		m.notices.say(warning, c.Warning)
	}
	return m
}

// addParts creates the parts that depend on the board.
func (m *Model) addParts() {
	s := m.shared
	m.footer = footer{cfg: m.cfg, board: m.board, picture: m.picture, replay: m.replay}
	m.asker = &asker{shared: s}
	m.confirms = &confirms{shared: s, runs: map[api.ID]*confirmRun{}, marked: map[api.ID]string{}}
	m.money = &moneyLine{shared: s, confirms: m.confirms, alerting: m.alerting}
	m.marks = &marks{shared: s, confirms: m.confirms, set: map[api.ID]bool{}}
	m.batch = &batch{shared: s, marks: m.marks, confirms: m.confirms}
	m.details = &details{s}
	m.filters = &filters{shared: s}
	m.failures = &failures{shared: s, filters: m.filters, details: m.details}
	m.finder = &finder{shared: s}
	m.usage = &usage{shared: s, filters: m.filters}
	m.jump = &jump{shared: s, details: m.details, asker: m.asker}
	m.links = &links{shared: s}
	m.exporting = &exporting{s}
	m.recorder = recorder{s}
	m.silence = &alertSilence{shared: s, alerting: m.alerting}
	m.saved = &savedFilters{shared: s, filters: m.filters}
	m.positions = &positions{shared: s, filters: m.filters, saved: m.saved, jump: m.jump}
	m.own = &ownCommands{shared: s, links: m.links, batch: m.batch, giveOver: m.giveOver, ran: map[action.ID]bool{}}
	m.consent = &consent{shared: s, marks: m.marks, batch: m.batch, confirms: m.confirms, details: m.details}
	m.verbs = &verbs{
		shared: s, filters: m.filters, saved: m.saved, positions: m.positions, exporting: m.exporting, jump: m.jump,
		do: m.do, disabled: m.disabled, restyle: m.restyle,
	}
	m.pointer = &pointer{shared: s, details: m.details, off: m.cfg.NoMouse || m.cfg.Remembered.NoMouse}
	m.away = newAway(m.cfg, m.picture, m.alerting, m.board)
	m.handlers = m.actions()
}

// Init starts the clock.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.tick(), m.themes.await(m.ctx), m.askGround(), m.awaitPicture())
}

// tick comes with the next full second.
func (m *Model) tick() tea.Cmd {
	if m.replay != nil {
		return after(m.ctx, m.replay.Tick(), tickMsg{})
	}
	now := time.Now()
	return after(m.ctx, now.Truncate(time.Second).Add(time.Second).Sub(now), tickMsg{})
}

// after sends a message after a duration, unless ctx ends first.
func after(ctx context.Context, d time.Duration, msg tea.Msg) tea.Cmd {
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

// Update handles a message: keys go to the focused pane or the dialog, sizes to each pane,
// data to all.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.waitNoMore(msg)
	m.holdCursor()
	if mouse, ok := msg.(tea.MouseMsg); ok {
		m.away.use(m.cfg.Now())
		cmd := m.mouse(mouse)
		m.touched(mouse)
		return m, cmd
	}
	m.redraw = true
	switch msg := msg.(type) {
	case tea.WindowSizeMsg, terminalMsg, tea.ModeReportMsg, tea.ColorProfileMsg, tea.BackgroundColorMsg, tea.FocusMsg, tea.BlurMsg:
		return m, m.updateTerminal(msg)
	case themeMsg:
		m.themes.change(msg.Change)
		m.restyle()
		return m, m.themes.await(m.ctx)
	case changesMsg:
		shown := m.apply(&msg.Changes)
		return m, tea.Batch(shown, m.positions.begin(m.cfg.Now()), m.batch.sendNext(m.ctx))
	case tickMsg:
		m.advance(m.cfg.Now())
		return m, tea.Batch(m.positions.begin(m.cfg.Now()), m.tick(), m.notify(), m.batch.sendNext(m.ctx))
	case job.ContinuedMsg:
		return m, m.suspend(true)
	case job.ResumedMsg:
		if msg.Err != nil {
			m.notices.say(warning, "not suspended: "+msg.Err.Error())
		}
	case ownLeftMsg:
		m.own.left(msg)
	case tea.KeyPressMsg:
		m.away.use(m.cfg.Now())
		cmd := m.key(msg)
		m.touched(msg)
		return m, cmd
	case job.KeysMsg:
		return m, m.keys(msg)
	case job.UnendedPasteMsg:
		m.notices.say(warning, "the terminal did not end a paste: the pasted text was dropped")
		return m, m.job.Keys.Renew()
	case tea.PasteMsg:
		return m, m.paste(msg)
	case foundMsg:
		m.filters.found(msg)
	case recordedMsg:
		m.recorder.done(msg)
	case exportedMsg:
		return m, m.exporting.done(m.ctx, msg)
	case copiedMsg:
		return m, m.clipboard.done(msg)
	case unopenedMsg:
		return m, m.links.failed(m.ctx, msg)
	default:
		return m, m.updateConfirm(msg)
	}
	return m, nil
}

// updateConfirm handles the messages of confirms and of their dialog.
func (m *Model) updateConfirm(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case quietMsg:
		return m.dialog.waited(m.ctx, msg)
	case uv.PrimaryDeviceAttributesEvent:
		if m.canvas != nil {
			m.canvas.Answered()
		}
		return m.dialog.answered(m.ctx)
	case silenceMsg:
		return m.dialog.silent(m.ctx, msg)
	case stageMsg:
		return m.confirms.stage(msg)
	case outcomeMsg:
		m.quitting = false
		m.confirms.outcome(msg, m.batch.isRunning(msg.run.id))
		return m.batch.outcome(m.ctx, msg.run.id, msg.outcome)
	}
	return nil
}

// advance moves the clock, so that each pane draws its ages again. All panes use this clock:
// between two seconds, only what changed moves.
func (m *Model) advance(now time.Time) {
	m.clock = now
	m.dialog.setNow(now)
	m.checkHealth()
	m.silence.update()
	m.away.tick(now)
	if m.picture.frozen == nil {
		m.look.Now = now
		m.filters.advance()
		m.board.invalidate()
	}
}

// apply applies changes to the picture and, unless it is frozen, to the screen.
func (m *Model) apply(c *account.Changes) (shown tea.Cmd) {
	first := c.Whole || !m.picture.started
	wasLive := m.picture.environment().Live
	m.picture.apply(c)
	m.asker.follow(c.Requests)
	m.alerting.update(m.cfg.Now())
	if m.picture.environment().Live != wasLive {
		m.restyle() // real money tints the frame
	}
	m.notifier.Observe(c)
	if first || m.replay != nil { // the clock of a replay may jump
		m.clock = m.cfg.Now()
		if m.picture.frozen == nil {
			m.look.Now = m.clock
			m.board.invalidate()
		}
	}
	if first {
		m.picture.since = m.clock
	}
	m.checkHealth()
	if m.picture.frozen == nil {
		shown = m.filters.show(c, first)
		m.details.refresh()
	}
	m.confirms.mark(m.cfg.Now())
	m.marks.keep()
	m.consent.follow()
	m.away.observe(m.cfg.Now())
	return shown
}

// checkHealth passes the health of the picture to the panes, unless the screen is frozen.
func (m *Model) checkHealth() {
	if h := (healthCheck{m.cfg, m.picture, m.clock}).health(); m.picture.frozen == nil && h != m.look.Health {
		m.look.Health = h
		m.board.invalidate()
	}
}

// restyle renders the styles of the theme for the terminal's colours.
func (m *Model) restyle() {
	t := m.themes.current()
	m.look.Brush = paint.NewBrush(t, m.picture.environment().Live)
	m.look.Brush.Clusters = m.canvas != nil && m.canvas.Clusters()
	m.line = paint.NewLine(m.look.Brush)
	m.board.invalidate()
}

// freeze holds the screen, or shows the present picture again.
func (m *Model) freeze() tea.Cmd {
	if m.picture.frozen == nil {
		m.picture.freeze(m.cfg.Now())
		m.away.frozen(true, m.cfg.Now())
		m.notices.toast = toast{} // the notice line says at once that the screen is frozen
		m.board.invalidate()      // drawn now, with what the next second would have shown
		return nil
	}
	missed := m.picture.thaw()
	m.away.frozen(false, m.cfg.Now())
	m.clock = m.cfg.Now()
	m.look.Now = m.clock
	m.checkHealth()
	shown := m.filters.show(&missed, false)
	m.details.refresh()
	m.board.invalidate()
	return shown
}
