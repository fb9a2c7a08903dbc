package forward

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	_ "modernc.org/sqlite" // the driver

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
)

// schema has the cursor of each target and the events before it that the target has not
// taken. Waiting events are tried in the order of n, dead ones no more.
const schema = `
CREATE TABLE IF NOT EXISTS cursors (target TEXT PRIMARY KEY, cursor TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS held (
	n INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL, id TEXT NOT NULL, source TEXT NOT NULL, dead INTEGER NOT NULL,
	since INTEGER NOT NULL, next INTEGER NOT NULL, seq INTEGER NOT NULL, cursor TEXT NOT NULL, received INTEGER NOT NULL, origin TEXT NOT NULL,
	delivery BLOB NOT NULL, body BLOB NOT NULL, UNIQUE (target, id));
PRAGMA user_version = 1`

const version = 1 // of the schema

// Statements that run for every event.
const (
	holdEvent = `INSERT INTO held (target, id, source, dead, since, next, seq, cursor, received, origin, delivery, body) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT (target, id) DO UPDATE SET dead = excluded.dead, since = excluded.since, next = excluded.next, delivery = excluded.delivery WHERE held.dead = 1 RETURNING n`
	readEvent   = selectHeld + "WHERE n = ?"
	updateEvent = "UPDATE held SET dead = ?, since = ?, next = ?, delivery = ? WHERE n = ?"
	forgetEvent = "DELETE FROM held WHERE target = ? AND id = ?"
	placeCursor = "INSERT INTO cursors VALUES (?, ?) ON CONFLICT DO UPDATE SET cursor = excluded.cursor"

	selectHeld = "SELECT n, target, dead, since, seq, cursor, received, origin, delivery, body FROM held "
)

// State is what a forwarder keeps on disk. A commit survives the end of the process,
// however it ends. A power cut may undo the newest commits, all from one point on: their
// events are then sent again.
type State struct {
	path string
	db   *sql.DB
	conn *sql.Conn // the only one

	mu       sync.Mutex
	dead     *flock.Flock         // held by who resends dead events; nil: not by this state
	claims   int                  // of dead
	prepared map[string]*sql.Stmt // on conn, by their text
	writing  bool                 // a transaction has begun
	failed   error                // of an earlier write: nothing may be written after it
}

// OpenState opens the state in the file at path, and creates it if there is none.
func OpenState(path string) (*State, error) {
	s, err := openState(path)
	if err != nil {
		return nil, fmt.Errorf("open the state of forwarding, %s: %w", path, err)
	}
	return s, nil
}

func openState(path string) (*State, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // for this user only
	if err != nil {
		return nil, err
	}
	const magic = "SQLite format 3\x00"
	begin := make([]byte, len(magic))
	n, _ := io.ReadFull(file, begin)
	if err := file.Close(); err != nil {
		return nil, err
	}
	if n > 0 && string(begin[:n]) != magic {
		return nil, errors.New("it holds something else, such as the cursor of tillwatch events: name another file")
	}
	options := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)"}}
	db, err := sql.Open("sqlite", "file:"+url.PathEscape(path)+"?"+options.Encode())
	if err != nil {
		return nil, err
	}
	if err := prepare(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &State{path: path, db: db, conn: conn, prepared: map[string]*sql.Stmt{}}, nil
}

// prepare makes the tables, unless a newer version of this program did.
func prepare(db *sql.DB) error {
	var found int
	if err := db.QueryRow("PRAGMA user_version").Scan(&found); err != nil {
		return err
	}
	if found > version {
		return errors.New("a newer version of this program wrote it: name another file")
	}
	_, err := db.Exec(schema)
	return err
}

// Close drops what is not committed.
func (s *State) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rollback()
	err := errors.Join(s.conn.Close(), s.db.Close())
	if s.dead != nil {
		err = errors.Join(err, s.dead.Close())
	}
	return err
}

func (s *State) rollback() {
	if s.writing {
		_ = s.run("ROLLBACK")
		s.writing = false
	}
}

// transact runs do as part of the next commit. After an error nothing is written any
// more: the cursor could move past an event that is not held.
func (s *State) transact(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil && !s.writing {
		s.failed = s.run("BEGIN IMMEDIATE")
		s.writing = s.failed == nil
	}
	if s.failed == nil {
		s.failed = do()
	}
	if s.failed != nil {
		s.rollback()
		return fmt.Errorf("keep the state of forwarding, %s: %w", s.path, s.failed)
	}
	return nil
}

// query calls row with each row, uncommitted changes included.
func (s *State) query(row func(*sql.Rows) error, text string, args ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ask(row, text, args...); err != nil {
		return fmt.Errorf("read the state of forwarding, %s: %w", s.path, err)
	}
	return nil
}

// ask runs a statement and calls row with each row that it returns. It prepares each text
// once: parsing one takes longer than running it. The caller holds mu.
func (s *State) ask(row func(*sql.Rows) error, text string, args ...any) (err error) {
	statement := s.prepared[text]
	if statement == nil {
		if statement, err = s.conn.PrepareContext(context.Background(), text); err != nil {
			return err
		}
		s.prepared[text] = statement
	}
	rows, err := statement.Query(args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for err == nil && rows.Next() {
		err = row(rows)
	}
	return errors.Join(err, rows.Err())
}

// run runs a statement that returns no rows. The caller holds mu.
func (s *State) run(text string, args ...any) error { return s.ask(nil, text, args...) }

// commit makes the writes so far durable. It may include a part of another target's
// batch: that target's cursor is written last.
func (s *State) commit() error {
	return s.transact(func() error {
		err := s.run("COMMIT")
		s.writing = err != nil
		return err
	})
}

func (s *State) exec(text string, args ...any) error {
	return s.transact(func() error { return s.run(text, args...) })
}

// cursor returns the cursor of a target, "" if there is none yet.
func (s *State) cursor(target string) (cursor string, err error) {
	err = s.query(func(row *sql.Rows) error { return row.Scan(&cursor) }, "SELECT cursor FROM cursors WHERE target = ?", target)
	return cursor, err
}

// Held is an event that a target has not taken.
type Held struct {
	relay.Item
	Target   string    // its whole address
	Cursor   string    // after the event
	Since    time.Time // it was tried from then to Delivery.Sent; moved on by the time in which no forwarder ran. Zero if never
	Delivery delivery.Delivery
	Dead     bool // given up

	n int64
}

// hold keeps an event and sets its row number. A dead event waits again from the start;
// for one that waits already, added is false.
func (s *State) hold(h *Held) (added bool, err error) {
	kept, err := json.Marshal(withoutBody(h.Delivery))
	if err != nil {
		return false, err
	}
	err = s.transact(func() error {
		return s.ask(func(row *sql.Rows) error {
			added = true // else it waits already
			return row.Scan(&h.n)
		}, holdEvent, h.Target, h.Event.ID, h.Event.Source.ID, h.Dead, millis(h.Since), millis(h.Delivery.Next), h.Seq, h.Cursor, millis(h.Received), h.Origin, kept, []byte(h.Event.Raw))
	})
	return added, err
}

// update stores the outcome of another attempt.
func (s *State) update(h *Held) error {
	kept, err := json.Marshal(withoutBody(h.Delivery))
	if err != nil {
		return err
	}
	return s.exec(updateEvent, h.Dead, millis(h.Since), millis(h.Delivery.Next), kept, h.n)
}

// taken deletes an event that its target has taken.
func (s *State) taken(target string, id api.ID) error {
	return s.exec(forgetEvent, target, id)
}

func (s *State) held(statement string, args ...any) (all []*Held, err error) {
	err = s.query(func(row *sql.Rows) error {
		h := &Held{}
		var since, received int64
		var kept, body []byte
		err := row.Scan(&h.n, &h.Target, &h.Dead, &since, &h.Seq, &h.Cursor, &received, &h.Origin, &kept, &body)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(kept, &h.Delivery); err != nil {
			return err
		}
		if h.Event, err = api.DecodeEvent(body); err != nil { // as the relay's client does with what it cannot decode
			h.Event = api.Event{ID: h.Delivery.Event, Type: h.Delivery.Type, Raw: body}
		}
		h.Since, h.Received, h.Delivery.Request.Body = moment(since), moment(received), body
		all = append(all, h)
		return nil
	}, statement, args...)
	return all, err
}

// heldAt reads an event by its row number; nil if it was taken meanwhile.
func (s *State) heldAt(n int64) (*Held, error) {
	all, err := s.held(readEvent, n)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// Dead lists up to limit events that were given up, with row numbers above n, the oldest
// first. last is the n of the next call.
func (s *State) Dead(n int64, limit int) (all []*Held, last int64, err error) {
	all, err = s.held(selectHeld+"WHERE dead = 1 AND n > ? ORDER BY n LIMIT ?", n, limit)
	if len(all) > 0 {
		n = all[len(all)-1].n
	}
	return all, n, err
}

// waiting calls yield with each event that waits for a target, in order; next is zero if
// it was not tried yet.
func (s *State) waiting(target string, yield func(source api.ID, n int64, next time.Time)) error {
	return s.query(func(row *sql.Rows) error {
		var source string
		var n, next int64
		if err := row.Scan(&source, &n, &next); err != nil {
			return err
		}
		yield(api.ScrubID(source), n, moment(next))
		return nil
	}, "SELECT source, n, next FROM held WHERE target = ? AND dead = 0 ORDER BY n", target)
}

// counts returns the numbers of waiting and of dead events of each target, by its URL.
func (s *State) counts() (waiting, dead map[string]int, err error) {
	counts := map[bool]map[string]int{false: {}, true: {}}
	err = s.query(func(row *sql.Rows) error {
		var target string
		var isDead bool
		var n int
		err := row.Scan(&target, &isDead, &n)
		counts[isDead][target] = n
		return err
	}, "SELECT target, dead, count(*) FROM held GROUP BY target, dead")
	return counts[false], counts[true], err
}

// withoutBody removes the body, which has a column of its own.
func withoutBody(d delivery.Delivery) delivery.Delivery {
	d.Request.Body = nil
	return d
}

// millis returns the milliseconds since 1970, 0 for the zero time; moment is its inverse.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// ClaimDead keeps others from resending dead events until the state is closed. Dead events that were read before may
// meanwhile have been resent.
func (s *State) ClaimDead() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead == nil {
		s.dead, err = claim(s.path+".dead.lock", "resends dead events already: wait until it has ended")
	}
	if err == nil {
		s.claims++
	}
	return err
}

// releaseDead takes one claim back, once others can see what was resent.
func (s *State) releaseDead() error {
	err := s.commit()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claims--; s.claims == 0 {
		err = errors.Join(err, s.dead.Close())
		s.dead = nil
	}
	return err
}

// Resend sends a dead event again, once, and stores the outcome.
func (s *State) Resend(ctx context.Context, sender Sender, h *Held) (taken bool, err error) {
	h.Delivery = sender.Send(ctx, h.Target, h.Item, h.Delivery)
	if ctx.Err() != nil {
		return false, ctx.Err() // it may or may not have arrived
	}
	if taken = h.Delivery.State == delivery.Delivered; taken {
		err = s.taken(h.Target, h.Event.ID)
	} else {
		h.Delivery.State = delivery.Dead
		err = s.update(h)
	}
	return taken, errors.Join(err, s.commit())
}
