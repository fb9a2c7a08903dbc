package dashboard

import (
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// asked is a pane whose rows stand for requests of the account.
type asked interface {
	// Asked is the filter that finds them, or why nothing does.
	Asked() (filter, why string)
}

func (m *Model) quota() *pane.Quota { return m.panes[layout.Quota].(*pane.Quota) }

// use does what has to do with the use of the quota, if that is what the action
// does.
func (m *Model) use(id action.ID) bool {
	switch id {
	case action.Usage:
		m.toggleUsage()
	case action.NextSpan:
		m.say(plain, m.quota().NextSpan())
	case action.NextChart:
		m.say(plain, "the charts begin with "+m.quota().NextChart())
	case action.Open:
		return m.openRequests()
	default:
		return false
	}
	return true
}

// toggleUsage gives the quota the whole screen, for its charts and spenders, or
// gives it back.
func (m *Model) toggleUsage() {
	if m.zoom && m.focus == layout.Quota {
		m.toggleZoom()
		return
	}
	m.showPane(layout.Quota)
	m.zoom, m.zoomed = true, layout.Quota
	m.setFocus(layout.Quota)
}

// useDisabled says why an action on the use of the quota cannot be performed now.
func (m *Model) useDisabled(id action.ID) string {
	switch charts := !m.layout.Panes[layout.Quota].Empty() && m.quota().Viewing(); {
	case id == action.Usage:
		return ""
	case !charts:
		return "no chart is on the screen: " + m.keyOf(action.Usage) + " shows the use of the quota"
	case id == action.NextChart && m.quota().AllCharts():
		return "all charts are on the screen"
	}
	return ""
}

// openRequests shows the requests that the row under the cursor stands for.
func (m *Model) openRequests() bool {
	p, ok := m.panes[m.focus].(asked)
	if !ok {
		return false
	}
	filter, _ := p.Asked()
	requests := m.panes[layout.Requests].(filtered)
	m.showPane(layout.Requests)
	m.setFilter(layout.Requests, pane.ParseFilter(filter, requests.Fields()))
	m.setFocus(layout.Requests)
	return true
}
