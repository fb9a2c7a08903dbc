package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
)

const markName = "journal.mark"

// mark is a small file with the last committed sequence number and, for people, the
// epoch. It is written after each commit, before the events are acknowledged, without a
// sync: it may be behind what was committed, never ahead. A database behind its mark has
// lost events, which may have been acknowledged.
type mark struct {
	file *os.File
	line [64]byte
}

func openMark(dir string) (*mark, error) {
	file, err := os.OpenFile(filepath.Join(dir, markName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &mark{file: file}, nil
}

// read returns the sequence number, 0 if the mark is unreadable.
func (m *mark) read() int64 {
	text := make([]byte, 128)
	n, _ := m.file.ReadAt(text, 0)
	var epoch string
	var seq int64
	if _, err := fmt.Sscanf(string(text[:n]), "%s %d\n", &epoch, &seq); err != nil {
		return 0
	}
	return seq
}

// write moves the mark. A failed write loses no event; it only may hide a later loss.
func (m *mark) write(epoch string, seq int64) {
	_, _ = m.file.WriteAt(fmt.Appendf(m.line[:0], "%s %020d\n", epoch, seq), 0)
}

func (m *mark) close() error { return m.file.Close() }
