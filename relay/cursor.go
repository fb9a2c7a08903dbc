package relay

import (
	"fmt"
	"strconv"
	"strings"

	"tillwatch/api"
)

// cursor is a position in the journal of one epoch, whose name is safe to draw.
type cursor struct {
	epoch string
	seq   int64
}

func (c cursor) String() string { return c.epoch + ":" + strconv.FormatInt(c.seq, 10) }

// IsCursor reports whether a text has the form of a cursor.
func IsCursor(text string) bool {
	_, err := parseCursor(text)
	return err == nil
}

func parseCursor(text string) (cursor, error) {
	epoch, digits, found := strings.Cut(text, ":")
	seq, err := strconv.ParseInt(digits, 10, 64)
	if !found || epoch == "" || string(api.Scrub(epoch)) != epoch || err != nil || seq < 0 {
		return cursor{}, fmt.Errorf("cursor %.80q is not of the form <epoch>:<seq>", text)
	}
	return cursor{epoch, seq}, nil
}
