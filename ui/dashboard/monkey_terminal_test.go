package dashboard

import (
	"image/color"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"pgregory.net/rapid"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/action/actiontest"
	"tillwatch/ui/dashboard/job"
)

// addTerminal adds what becomes of the terminal and of time.
func (k *monkey) addTerminal() {
	k.steps["another size"] = func() { k.resize(actiontest.Size(k.t)) }
	k.steps["and back"] = func() {
		width, height := k.m.width, k.m.height
		k.resize(actiontest.Size(k.t))
		k.pass(rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(k.t, "after"))
		k.resize(width, height)
	}
	k.steps["the focus goes"] = func() { k.handle(tea.BlurMsg{}) }
	k.steps["the focus comes"] = func() { k.handle(tea.FocusMsg{}) }
	k.steps["time passes"] = func() {
		k.pass(rapid.SampledFrom([]time.Duration{10 * time.Millisecond, 500 * time.Millisecond, 1500 * time.Millisecond, 7 * time.Second, 31 * time.Second}).Draw(k.t, "of"))
	}
	k.steps["the machine sleeps"] = func() { // nothing is handled meanwhile
		time.Sleep(rapid.SampledFrom([]time.Duration{3 * time.Second, 20 * time.Minute, 50 * time.Hour}).Draw(k.t, "for"))
	}
	k.steps["the clock is set"] = func() {
		k.ahead = rapid.SampledFrom([]time.Duration{0, time.Hour, -time.Hour, -400 * 24 * time.Hour, 30 * time.Second}).Draw(k.t, "ahead by")
	}
	k.steps["other colours"] = func() {
		k.handle(tea.ColorProfileMsg{Profile: rapid.SampledFrom([]colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI, colorprofile.ASCII}).Draw(k.t, "profile")})
	}
	k.steps["another ground"] = func() {
		k.handle(tea.BackgroundColorMsg{Color: rapid.SampledFrom([]color.Color{color.White, color.Black}).Draw(k.t, "ground")})
	}
	k.steps["the theme's file"] = func() {
		change := themes.Change{Theme: k.theme(rapid.SampledFrom(themes.Names()).Draw(k.t, "theme")), Err: k.trouble(k.t)}
		k.handle(themeMsg{change})
	}
	k.steps["the terminal is left and taken again"] = func() {
		if err := k.m.canvas.Leave(); err != nil {
			k.t.Fatal(err)
		}
		_, _ = k.screen.WriteString("$ ls\r\ntillwatch.toml\r\n")
		k.enter()
		k.handle(job.ResumedMsg{})
	}
}

func (k *monkey) resize(width, height int) {
	k.screen.Resize(width, height)
	k.handle(tea.WindowSizeMsg{Width: width, Height: height})
}
