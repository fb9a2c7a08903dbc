package dashboard

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/layout"
)

// Maker creates intents in a stand-in.
type Maker struct {
	// Make creates one. It is not called in Update. Nil: not possible.
	Make  func(ctx context.Context, w dialog.Wish) (api.ID, error)
	Magic []string // names of magic products for a wish
}

// intentCreation creates a new intent if the service is a stand-in.
type intentCreation struct{ *shared }

// madeMsg brings the outcome of a wish.
type madeMsg struct {
	asked *dialog.Making
	id    api.ID
	err   error
}

// disabled says why no intent can be created now; "" if one can.
func (m *intentCreation) disabled() string {
	where := m.picture.environment()
	switch {
	case m.cfg.Maker.Make == nil:
		return "no intent can be made here"
	case !where.Known():
		return "only a stand-in takes new intents from here, and nothing has answered yet"
	case !where.StandIn:
		return "only a stand-in takes new intents from here, and this is " + where.Name + ": tillwatch create makes one"
	}
	return ""
}

func (m *intentCreation) ask() {
	m.dialog.shown = dialog.NewMaking(m.cfg.Maker.Magic)
}

// begin sends the wish.
func (m *intentCreation) begin(ctx context.Context, asked *dialog.Making) tea.Cmd {
	wish, err := asked.Wish()
	if err != nil {
		return nil
	}
	return m.work.start(ctx, func(ctx context.Context) tea.Msg {
		id, err := m.cfg.Maker.Make(ctx, wish)
		return madeMsg{asked, id, err}
	})
}

// done shows the outcome: in the dialog while that is open, otherwise in a notice.
func (m *intentCreation) done(msg madeMsg) {
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
		m.board.awaited = msg.id
		m.board.receive()
	}
}

// receive puts the cursor on the intent that was created here, once it has arrived.
func (b *board) receive() {
	if _, there := b.picture.intents[b.awaited]; b.awaited == "" || !there || b.picture.frozen != nil {
		return
	}
	if b.intents.Select(b.awaited) && b.focus != layout.Detail && !b.layout.Panes[layout.Intents].Empty() {
		b.setFocus(layout.Intents)
	}
	b.awaited = ""
}
