package forward

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/api/durable"
	"tillwatch/relay"
)

// state is the folder in which a target's progress is kept: its cursor, and a file for each
// dead event. What is kept survives the end of the process and of the machine.
type state string

// stateOf returns the state of a target that gets the events of a relay.
func stateOf(folder, relay, target string) state {
	sum := sha256.Sum256([]byte(relay + "\n" + target))
	return state(filepath.Join(folder, hex.EncodeToString(sum[:8])))
}

func (s state) file(name string) string { return filepath.Join(string(s), name) }

// cursor returns how far the target has got; "" if it is new.
func (s state) cursor() (string, error) {
	text, err := os.ReadFile(s.file("cursor"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	cursor := strings.TrimSpace(string(text))
	if err == nil && !relay.IsCursor(cursor) {
		err = fmt.Errorf("%s holds no cursor: remove it to begin as with a new target", s.file("cursor"))
	}
	return cursor, err
}

// pass moves the cursor.
func (s state) pass(cursor string) error {
	return durable.Replace(s.file("cursor"), func(w io.Writer) error {
		_, err := io.WriteString(w, cursor+"\n")
		return err
	})
}

// deadEvent is an event that was given up, as its file holds it.
type deadEvent struct {
	Target   string            `json:"target"` // its whole address
	Cursor   string            `json:"cursor"`
	Received time.Time         `json:"received"`
	Delivery delivery.Delivery `json:"delivery"` // without its request and answer
	Body     []byte            `json:"body"`
}

// bury keeps an event as dead.
func (s state) bury(a Attempt) error {
	a.file = s.file(fmt.Sprintf("dead-%d-%019d.json", time.Now().UnixMilli(), a.Seq)) // by name they are in order
	return a.save()
}

func (a *Attempt) save() error {
	dead := deadEvent{a.Target, a.Cursor, a.Received, a.Delivery, a.Event.Raw}
	dead.Delivery.Request, dead.Delivery.Answer = delivery.Message{}, delivery.Message{} // they may hold secrets
	return durable.Replace(a.file, func(w io.Writer) error { return json.NewEncoder(w).Encode(dead) })
}

// Dead yields the events in a folder that were given up, those of each target from the
// oldest on. Some may be sent again meanwhile.
func Dead(folder string) iter.Seq2[Attempt, error] {
	return func(yield func(Attempt, error) bool) {
		files, _ := fs.Glob(os.DirFS(folder), "*/dead-*.json") // only a wrong pattern is an error
		for _, file := range files {
			a, err := readDead(filepath.Join(folder, file))
			if errors.Is(err, fs.ErrNotExist) {
				continue // taken meanwhile
			}
			if !yield(a, err) {
				return
			}
		}
	}
}

func readDead(file string) (Attempt, error) {
	var dead deadEvent
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &dead)
	}
	if err != nil {
		return Attempt{}, fmt.Errorf("read the dead event in %s: %w", file, err)
	}
	event, err := api.DecodeEvent(dead.Body)
	if err != nil { // as the relay's client does with what it cannot decode
		event = api.Event{ID: dead.Delivery.Event, Type: dead.Delivery.Type, Raw: dead.Body}
	}
	item := relay.Item{Event: event, Received: dead.Received}
	return Attempt{item, dead.Target, dead.Cursor, dead.Delivery, file}, nil
}

// Resend sends a dead event once more, and returns the attempt. If the target takes it, it
// is no longer dead.
func Resend(ctx context.Context, sender Sender, a Attempt) (Attempt, error) {
	a.Delivery = sender.Send(ctx, a.Target, a.Item, a.Delivery)
	if ctx.Err() != nil {
		return a, ctx.Err() // it may or may not have arrived
	}
	if a.Delivery.State == delivery.Delivered {
		if err := os.Remove(a.file); !errors.Is(err, fs.ErrNotExist) {
			return a, err
		}
		return a, nil
	}
	a.Delivery.State = delivery.Dead
	return a, a.save()
}
