package dashboard

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/weblink"
	"tillwatch/ui/wording"
)

// Browser opens an address for a person.
type Browser struct {
	Open   func(ctx context.Context, address string) error // nil: addresses are copied instead
	Closed string                                          // why Open is nil
}

// links finds the web addresses of a thing, and opens them.
type links struct {
	*shared
	refused error // why the last found address is no link
}

// unopenedMsg says that an address could not be opened.
type unopenedMsg struct {
	link weblink.Link
	err  error
}

// of returns the links of a subject, the most useful first.
func (l *links) of(s pane.Subject) []dialog.Item {
	l.refused = nil
	var found []dialog.Item
	id := s.ID
	if e, ok := l.board.events.Find(id); s.Kind == pane.OfEvent && ok {
		id = e.SourceID
	}
	if sh, ok := l.picture.shipments[id]; ok {
		found = l.tracking(found, sh)
	}
	in, ok := l.board.intentOf(s)
	if !ok {
		return found
	}
	parcels := slices.Clone(l.picture.shipmentsOf(in.ID))
	slices.SortStableFunc(parcels, func(a, b *account.Shipment) int { return b.Late(l.board.look.Now) - a.Late(l.board.look.Now) })
	for _, sh := range parcels {
		if sh.ID != id {
			found = l.tracking(found, sh)
		}
	}
	if all, ok := l.cfg.Source.Intent(in.ID); ok && all.Latest != nil {
		found = l.add(found, "Product page", string(in.Product), all.Latest.ProductURL)
	}
	return found
}

func (l *links) tracking(found []dialog.Item, sh *account.Shipment) []dialog.Item {
	if sh.Latest == nil || sh.Latest.Tracking == nil {
		return found
	}
	note := sign.Shipment(sh.Status()).Word
	if late := wording.Late(sh.Late(l.board.look.Now)); late != "" {
		note += ", " + late
	}
	if carrier := string(sh.Latest.Tracking.Carrier); carrier != "" {
		note = carrier + " · " + note
	}
	return l.add(found, "Tracking", note, sh.Latest.Tracking.URL)
}

func (l *links) add(found []dialog.Item, title, note string, address api.Text) []dialog.Item {
	if address == "" {
		return found
	}
	link, err := weblink.Parse(string(address))
	if err != nil {
		l.refused = err
		return found
	}
	return append(found, dialog.Item{Title: title, Note: note, Link: link})
}

// offer shows the links of the thing under the cursor; the next key opens one.
func (l *links) offer(ctx context.Context) {
	found := l.of(l.board.subject())
	switch {
	case len(found) > 0:
	case l.refused != nil:
		l.notices.say(warning, "its address is not opened: "+l.refused.Error())
		return
	default:
		l.notices.say(warning, "it has no known tracking link or product page")
		return
	}
	title, takes := "Open in the browser", "open"
	if l.cfg.Browser.Open == nil {
		title, takes = "Copy the link", "copy"
	}
	for i, item := range found {
		found[i].Do = func() tea.Cmd { return l.follow(ctx, item.Link) }
	}
	l.dialog.shown = dialog.NewMenu(title, takes, action.OpenLink, found)
}

// follow opens an address, or copies it if nothing can be opened.
func (l *links) follow(ctx context.Context, link weblink.Link) tea.Cmd {
	if l.cfg.Browser.Open == nil {
		return l.clipboard.copy(ctx, copying{text: link.Address, kind: plain, after: " it, as " + l.cfg.Browser.Closed + ": ", link: link})
	}
	l.notices.sayLink(plain, "opening ", link)
	return func() tea.Msg {
		if err := l.cfg.Browser.Open(ctx, link.Address); err != nil {
			return unopenedMsg{link, err}
		}
		return nil
	}
}

// failed copies an address that could not be opened.
func (l *links) failed(ctx context.Context, msg unopenedMsg) tea.Cmd {
	after := " it, as it could not be opened (" + msg.err.Error() + "): "
	return l.clipboard.copy(ctx, copying{text: msg.link.Address, kind: warning, after: after, link: msg.link})
}
