package dashboard

import (
	"context"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/themes"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/action/actiontest"
	"tillwatch/ui/dashboard/canvas"
	"tillwatch/ui/dashboard/own"
	"tillwatch/ui/notify"
	"tillwatch/ui/recording"
)

// monkey plays with a dashboard on an emulated terminal, in a bubble of time. It
// stands for the library's loop: it runs the model's commands and gives it their
// messages, one at a time.
type monkey struct {
	t     *rapid.T
	m     *Model
	hand  actiontest.Hand
	steps map[string]func() // what it can do
	inbox chan tea.Msg
	ctx   context.Context
	runs  sync.WaitGroup

	screen *vt.Emulator  // what the terminal shows
	paper  *vt.Emulator  // what it should show
	sent   []string      // what it was sent lately
	pause  time.Duration // of the canvas
	drawn  time.Time     // the last message that had something drawn
	ticked bool          // it was a tick
	quit   bool          // the program would have ended

	ahead   time.Duration // of its own clock is the one that the board goes by
	answers time.Duration // how long the terminal takes to answer; negative: it never does
	account *monkeyAccount
	guard   *monkeyGuard // of the account
	player  *recording.Player
}

// newMonkey opens a board on a terminal that may be of any kind.
func newMonkey(t *rapid.T, ctx context.Context, cfg Config) *monkey {
	k := &monkey{t: t, ctx: ctx, inbox: make(chan tea.Msg), steps: map[string]func(){}}
	k.answers = rapid.SampledFrom([]time.Duration{0, 40 * time.Millisecond, 900 * time.Millisecond, -1}).Draw(t, "the terminal answers after")
	k.pause = rapid.SampledFrom([]time.Duration{time.Nanosecond, canvas.Pause}).Draw(t, "pause between frames")
	cfg.Theme = k.theme(rapid.SampledFrom(themes.Names()).Draw(t, "theme"))
	cfg.Location = time.UTC
	cfg.NoColor = rapid.IntRange(0, 5).Draw(t, "no colour") == 0
	cfg.Notify = rapid.SampledFrom([]notify.Method{"", notify.Bell, notify.OSC9, notify.OSC777}).Draw(t, "notify")
	cfg.Remember = func(Layout) {}
	cfg.Remembered = remembered(t)
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return time.Now().Add(k.ahead) }
	}
	k.m = New(cfg)
	k.m.ctx = ctx
	k.m.own.giveOver = func(c own.Command, _ []string) tea.Cmd { // it ends at once: the loop would stand still
		return func() tea.Msg { return ownLeftMsg{c.Name + " ended after 1s", nil} }
	}
	k.hand = actiontest.Hand{Actions: k.m.cfg.Actions}
	width, height := actiontest.Size(t)
	k.screen, k.paper = vt.NewEmulator(width, height), vt.NewEmulator(width, height)
	for _, e := range []*vt.Emulator{k.screen, k.paper} {
		e.SetScrollbackSize(1) // of what is erased it would keep 10,000 lines
	}
	profile := rapid.SampledFrom([]colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI, colorprofile.ASCII, colorprofile.NoTTY}).Draw(t, "profile")
	term := rapid.SampledFrom([]string{"xterm-256color", "tmux-256color", "linux", "vt100", ""}).Draw(t, "TERM")
	k.m.canvas = canvas.New(canvas.Config{Out: unmarked{k.screen, &k.sent}, Environ: []string{"TERM=" + term, notAsked}, Pause: k.pause})
	k.enter()
	k.handle(tea.ColorProfileMsg{Profile: profile})
	k.handle(tea.WindowSizeMsg{Width: width, Height: height})
	if rapid.Bool().Draw(t, "brackets") {
		k.handle(tea.ModeReportMsg{Mode: ansi.ModeSynchronizedOutput, Value: ansi.ModeReset})
	}
	k.run(k.m.Init())
	k.runs.Go(func() {
		_ = pump(ctx, cfg.Source, func(c account.Changes) { k.send(changesMsg{c}) })
	})
	return k
}

// remembered is how somebody has left the screen.
func remembered(t *rapid.T) Layout {
	l := Layout{Acquainted: rapid.Bool().Draw(t, "acquainted")}
	if rapid.IntRange(0, 3).Draw(t, "arranged") == 0 {
		l.Hidden = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"intents", "shipments", "quota", "events", "doors"}), 0, 5, rapid.ID).Draw(t, "hidden")
		l.NoMouse = rapid.Bool().Draw(t, "no mouse")
	}
	return l
}

func (k *monkey) theme(name string) themes.Theme {
	theme, err := themes.Find(name)
	if err != nil {
		k.t.Fatal(err)
	}
	return theme
}

func (k *monkey) enter() {
	if err := k.m.canvas.Enter(); err != nil {
		k.t.Fatal(err)
	}
}

// close waits for all that was begun. The context has ended.
func (k *monkey) close() {
	_ = k.m.canvas.Leave()
	k.runs.Wait()
	k.m.confirms.running.Wait()
	k.m.work.Wait()
}

// run has a command done beside the loop, as the library does.
func (k *monkey) run(cmd tea.Cmd) {
	if cmd != nil {
		k.runs.Go(func() { k.send(cmd()) })
	}
}

func (k *monkey) send(msg tea.Msg) {
	if msg == nil {
		return
	}
	select {
	case k.inbox <- msg:
	case <-k.ctx.Done():
	}
}

// handle does with a message what the library's loop does.
func (k *monkey) handle(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.BatchMsg:
		for _, cmd := range msg {
			k.run(cmd)
		}
		return
	case tea.QuitMsg:
		k.quit = true
		return
	case terminalMsg:
		k.sendTerminal(string(msg))
		return
	}
	_, cmd := k.m.Update(msg)
	if k.m.stale() {
		_, k.ticked = msg.(tickMsg)
		k.drawn = time.Now()
	}
	k.m.View()
	k.run(cmd)
}

// tell gives the terminal what the program writes beside frames. A question for
// its attributes is answered, if ever, behind what was typed before.
func (k *monkey) sendTerminal(text string) {
	switch {
	case strings.Contains(text, ansi.RequestPrimaryDeviceAttributes):
		if k.answers >= 0 {
			k.run(after(k.m.ctx, k.answers, uv.PrimaryDeviceAttributesEvent{62}))
		}
	case strings.Contains(text, ansi.RequestBackgroundColor): // a step of its own answers
	default:
		k.m.canvas.Tell(text)
	}
}

// catchUp handles what has come, without any time passing.
func (k *monkey) catchUp() {
	for {
		synctest.Wait()
		select {
		case msg := <-k.inbox:
			k.handle(msg)
		default:
			return
		}
	}
}

// pass lets time pass.
func (k *monkey) pass(d time.Duration) {
	end := time.NewTimer(d)
	defer end.Stop()
	for {
		select {
		case msg := <-k.inbox:
			k.handle(msg)
		case <-end.C:
			k.catchUp()
			return
		}
	}
}

// liveMonkey plays with the board of an account.
func liveMonkey(t *rapid.T, ctx context.Context) *monkey {
	a := newMonkeyAccount()
	guard := &monkeyGuard{verdicts: make(chan monkeyVerdict, 100), underway: map[api.ID]bool{}}
	trouble := rapid.SampledFrom([]string{"", "", "the disk is full"}).Draw(t, "trouble with the recording")
	cfg := Config{
		Source: a.store, Environment: rapid.SampledFrom([]string{"staging", "", "prod\x1b[31m日本"}).Draw(t, "environment"),
		Live: rapid.Bool().Draw(t, "live"), Account: "shop-eu", Armed: rapid.IntRange(0, 3).Draw(t, "read-only") > 0, Confirmer: guard,
		Refresh: func(api.ID) {}, Reconnect: func() {}, ConfirmWindow: api.ConfirmWindow,
		KeyFile: rapid.SampledFrom([]string{"", "/home/ann/.secrets/checkout-key"}).Draw(t, "the key's file"),
		Warning: rapid.SampledFrom([]string{"", "", "the state folder cannot be written: it is a long way down, and somebody else has it"}).Draw(t, "warning"),
	}
	addCommands(t, &cfg)
	if rapid.Bool().Draw(t, "a key that can be tried") {
		cfg.TryKey = func() {}
	}
	if rapid.IntRange(0, 5).Draw(t, "unsettled") == 0 {
		a.store.RecordConfirms([]account.Confirm{
			{Attempt: "A", Intent: "ci_lost", Total: "12.90 USD", Sent: time.Now().Add(-30 * time.Hour)},
			{Attempt: "B", Intent: "ci_sent", Run: "tillwatch confirm, process 7", Total: "1.00 USD", Sent: time.Now().Add(-time.Second)},
		})
	}
	if rapid.IntRange(0, 3).Draw(t, "recording") == 0 {
		cfg.Recording = &recordings{state: RecordingState{Trouble: trouble}}
	}
	light, err := themes.Find("light")
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "by the terminal's ground") {
		cfg.LightTheme = &light
	}
	k := newMonkey(t, ctx, cfg)
	k.account, k.guard, k.hand.IDs = a, guard, a.known
	k.addHand()
	k.addAccount()
	k.addTerminal()
	if rapid.Bool().Draw(t, "a busy account") {
		k.fill(t)
	}
	return k
}

// addCommands adds commands of one's own.
func addCommands(t *rapid.T, cfg *Config) {
	cfg.Commands = []own.Command{
		{Key: "alt+n", Name: "Note it", Program: "note", Args: []string{"--id={id}", "{merchant}"}, Live: true},
		{Key: "alt+p", Name: "Follow it", Program: "follow", Args: []string{"{tracking}"}, Unguarded: true},
	}
	all := action.Default().Actions()
	for _, c := range cfg.Commands {
		all = append(all, c.Action())
	}
	table, err := action.NewTable(all)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Actions = table
}

// replayMonkey plays with the board of a recorded day.
func replayMonkey(t *rapid.T, ctx context.Context) *monkey {
	from := time.Duration(rapid.IntRange(0, 24*60).Draw(t, "from minute")) * time.Minute
	p, err := recording.OpenPlayer(day, recording.PlayerConfig{From: from, Paused: rapid.Bool().Draw(t, "paused")})
	if err != nil {
		t.Fatal(err)
	}
	h := p.Header()
	k := newMonkey(t, ctx, Config{Source: p, Transport: p, Now: p.Now, Environment: h.Environment, Account: h.Account})
	k.player = p
	k.runs.Go(func() { _ = p.Run(ctx) })
	k.addHand()
	k.addTerminal()
	return k
}
