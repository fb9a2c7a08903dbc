package dashboard

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/layout"
)

// Creator creates intents in a stand-in.
type Creator struct {
	// Create creates an intent. Update never calls it directly. Nil: not possible.
	Create func(ctx context.Context, w dialog.Draft) (api.ID, error)
	Magic  []string // names of magic products
}

// intentCreation creates a new intent if the service is a stand-in.
type intentCreation struct{ *shared }

// createdMsg brings the outcome of a creation.
type createdMsg struct {
	asked *dialog.Creation
	id    api.ID
	err   error
}

// disabled says why no intent can be created now; "" if one can.
func (m *intentCreation) disabled() string {
	where := m.picture.environment()
	switch {
	case m.cfg.Creator.Create == nil:
		return "no intent can be made here"
	case !where.Known():
		return "only a stand-in takes new intents from here, and nothing has answered yet"
	case !where.StandIn:
		return "only a stand-in takes new intents from here, and this is " + where.Name + ": tillwatch create makes one"
	}
	return ""
}

func (m *intentCreation) ask() {
	m.dialog.shown = dialog.NewCreation(m.cfg.Creator.Magic)
}

// begin creates the intent that was typed.
func (m *intentCreation) begin(ctx context.Context, asked *dialog.Creation) tea.Cmd {
	draft, err := asked.Draft()
	if err != nil {
		return nil
	}
	return m.work.start(ctx, func(ctx context.Context) tea.Msg {
		id, err := m.cfg.Creator.Create(ctx, draft)
		return createdMsg{asked, id, err}
	})
}

// done shows the outcome: in the dialog while that is open, otherwise in a notice.
func (m *intentCreation) done(msg createdMsg) {
	open := m.dialog.shown == dialog.Dialog(msg.asked)
	switch {
	case msg.err != nil && open:
		msg.asked.Refuse(msg.err.Error())
	case msg.err != nil:
		m.notices.say(warning, msg.err.Error())
	default:
		if open {
			m.dialog.close()
		}
		m.notices.say(success, "created "+string(msg.id))
		m.board.created = msg.id
		m.board.selectCreated()
	}
}

// selectCreated puts the cursor on the intent that was created here, once it has arrived.
func (b *board) selectCreated() {
	if _, there := b.picture.intents[b.created]; b.created == "" || !there || b.picture.frozen != nil {
		return
	}
	if b.intents.Select(b.created) && b.focus != layout.Detail && !b.layout.Panes[layout.Intents].Empty() {
		b.setFocus(layout.Intents)
	}
	b.created = ""
}
