package dashboard

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/themes"
)

// themeMsg brings what became of the file behind the theme.
type themeMsg struct{ themes.Change }

// awaitTheme waits for the next change of the theme's file.
func (m *Model) awaitTheme() tea.Cmd {
	changes, ctx := m.cfg.ThemeChanges, m.ctx
	if changes == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case change, open := <-changes:
			if open {
				return themeMsg{change}
			}
		case <-ctx.Done():
		}
		return nil
	}
}

// askTerminal asks the terminal what it can do, and for its ground where the theme
// depends on it. The first picture does not wait for the answers.
func (m *Model) askTerminal() tea.Cmd {
	var questions string
	if m.canvas != nil {
		questions = m.canvas.Questions()
	}
	if m.cfg.LightTheme != nil {
		questions += ansi.RequestBackgroundColor
	}
	if questions == "" {
		return nil
	}
	return tell(questions)
}

// suitGround takes the light theme on a light ground, unless a person has chosen
// another one meanwhile.
func (m *Model) suitGround(ground tea.BackgroundColorMsg) {
	if m.cfg.LightTheme == nil || ground.Color == nil {
		return
	}
	m.lightGround = !ground.IsDark()
	if m.arranged.Theme == "" {
		m.theme = m.configuredTheme()
		m.restyle()
	}
}

// configuredTheme is the theme as it is configured, on the terminal's ground.
func (m *Model) configuredTheme() themes.Theme {
	if m.lightGround && m.cfg.LightTheme != nil {
		return *m.cfg.LightTheme
	}
	return m.cfg.Theme
}

// changeTheme takes over a theme whose file has changed. Another one that was
// chosen meanwhile stays on the screen, and so does the old one after an error.
func (m *Model) changeTheme(c themes.Change) {
	if c.Err != nil {
		m.say(warning, "the theme stays as it was: "+c.Err.Error())
		return
	}
	old := m.cfg.Theme.Name
	if m.cfg.Watched != "" {
		old, m.cfg.Watched = m.cfg.Watched, c.Theme.Name
	}
	if m.cfg.Theme.Name == old {
		m.cfg.Theme = c.Theme
	}
	if at := m.themeAt(old); at >= 0 {
		m.cfg.Themes[at] = c.Theme
	}
	if m.theme.Name == old {
		m.theme = c.Theme
		m.restyle()
		m.say(plain, "theme: "+c.Theme.Name+", read again")
	}
}

// nextTheme goes on to the next of the themes.
func (m *Model) nextTheme() {
	m.setTheme(m.cfg.Themes[(m.themeAt(m.theme.Name)+1)%len(m.cfg.Themes)].Name)
	m.say(plain, "theme: "+m.theme.Name)
}
