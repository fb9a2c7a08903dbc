package api

import (
	"fmt"
	"io"
	"log/slog"
)

// The resources keep raw bodies, which may hold personal data and live tokens.
// However one of them is printed or logged, it is named and nothing more.

// Format prints the kind, the id and the state for every verb.
func (i Intent) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "intent %s (%s)", i.ID, i.State) }

// LogValue logs the id and the state.
func (i Intent) LogValue() slog.Value {
	return slog.GroupValue(slog.String("id", string(i.ID)), slog.String("state", string(i.State)))
}

// Format prints the id, the type and the source for every verb.
func (e Event) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "event %s (%s of %s)", e.ID, e.Type, e.Source.ID)
}

// LogValue logs the id, the type and the source.
func (e Event) LogValue() slog.Value {
	return slog.GroupValue(slog.String("id", string(e.ID)), slog.String("type", string(e.Type)),
		slog.String("source", string(e.Source.ID)))
}

// Format prints the kind, the id and the status for every verb.
func (s Shipment) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "shipment %s (%s)", s.ID, s.Status) }

// LogValue logs the id and the status.
func (s Shipment) LogValue() slog.Value {
	return slog.GroupValue(slog.String("id", string(s.ID)), slog.String("status", string(s.Status)))
}

// Format prints the kind and the id for every verb.
func (p Product) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "product %s", p.ID) }

// LogValue logs the id.
func (p Product) LogValue() slog.Value { return slog.GroupValue(slog.String("id", string(p.ID))) }

// Format prints the payment kind only, for every verb: Raw may hold a token.
func (c ConfirmIntent) Format(f fmt.State, _ rune) {
	if c.Payment == nil {
		io.WriteString(f, "confirm")
		return
	}
	fmt.Fprintf(f, "confirm by %s", c.Payment.Type)
}

// LogValue logs that it is a confirm and no more.
func (c ConfirmIntent) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }
