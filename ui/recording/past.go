package recording

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/account/form"
)

// How much of the past is kept: the changes of the last [PastSpan], compressed, in at
// most [PastBytes].
const (
	PastSpan  = 15 * time.Minute
	PastBytes = 8 << 20
)

const (
	pastAfter   = 5 * time.Second // the start of the program comes first
	pastGather  = time.Second     // coarser steps than in a recording
	pastChapter = PastSpan / 3    // the length of a chapter, which is dropped as a whole
	pastTimes   = 1               // a chapter's changes may be this many times as large as its picture: two chapters must fit
)

// Past keeps the latest changes: a recording can begin before somebody asks for it. It
// keeps them as a file would, with the same things left out. While nothing changes it
// does nothing. Create it with [NewPast].
type Past struct {
	mu       sync.Mutex
	limit    int // in bytes
	out      *writer
	marks    marker
	into     [][]byte  // the pieces of the current chapter, as out writes them
	began    time.Time // when that chapter began
	chapters []keptChapter
}

// keptChapter is a complete chapter: a part of a file.
type keptChapter struct {
	began, ended time.Time
	packed       [][]byte
}

func size(pieces [][]byte) (bytes int) {
	for _, piece := range pieces {
		bytes += len(piece)
	}
	return bytes
}

// NewPast returns an empty past.
func NewPast() *Past {
	p := &Past{limit: PastBytes}
	p.out = &writer{packed: form.NewWriter(p, gzip.DefaultCompression)}
	p.out.frames.Put = p.out.put
	return p
}

// Write implements [io.Writer] for the packed output of out.
func (p *Past) Write(packed []byte) (int, error) {
	p.into = append(p.into, bytes.Clone(packed))
	return len(packed), nil
}

// Run keeps the past of a source until ctx ends. If it fails, it drops the past and
// returns.
func (p *Past) Run(ctx context.Context, source account.Picture) {
	defer func() {
		if recover() != nil {
			p.letGo()
		}
	}()
	// Nothing is kept before the first change.
	if api.Sleep(ctx, pastAfter) != nil || source.Wait(ctx, source.Changes(0).Version) != nil {
		return
	}
	for since := uint64(0); ; {
		version, err := p.take(source, since)
		if err != nil {
			p.letGo()
			return
		}
		since = version
		if api.Sleep(ctx, pastGather) != nil || source.Wait(ctx, since) != nil {
			return
		}
	}
}

// errTooLarge says that the picture alone exceeds the limit.
var errTooLarge = errors.New("the picture is too large")

// take keeps the changes since a version and returns the new version.
func (p *Past) take(source account.Picture, since uint64) (uint64, error) {
	c := source.Changes(since)
	p.mu.Lock()
	defer p.mu.Unlock()
	marks := p.marks.of(&c, since == 0)
	if p.out.begun {
		if err := p.out.write(&c, source.Intent, marks); err != nil {
			return since, err
		}
	}
	if p.out.chapterDue(pastTimes) || p.out.moment(c.At).Sub(p.began) >= pastChapter {
		if since > 0 {
			c = source.Changes(0) // a chapter begins with the whole picture
			p.marks.of(&c, false)
		} else {
			p.marks.began = c.At
		}
		if err := p.close(); err != nil {
			return since, err
		}
		p.began = p.out.moment(c.At)
		if err := p.out.chapter(&c, source.Intent); err != nil {
			return since, err
		}
	}
	if p.bound(c.At) > p.limit {
		return since, errTooLarge
	}
	return c.Version, nil
}

// close ends the current chapter.
func (p *Past) close() error {
	err := p.out.packed.EndPart()
	if p.out.begun && len(p.into) > 0 {
		p.chapters = append(p.chapters, keptChapter{p.began, p.out.last, p.into})
	}
	p.into, p.out.begun = nil, false
	return err
}

// bound drops the oldest chapters that are too old or too much, and returns how many
// bytes remain.
func (p *Past) bound(now time.Time) int {
	bytes, moment := size(p.into), p.out.moment(now)
	for _, c := range p.chapters {
		bytes += size(c.packed)
	}
	for len(p.chapters) > 0 && (bytes > p.limit || moment.Sub(p.chapters[0].ended) > PastSpan) {
		bytes -= size(p.chapters[0].packed)
		p.chapters = slices.Delete(p.chapters, 0, 1)
	}
	return bytes
}

func (p *Past) letGo() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chapters, p.into, p.out.begun = nil, nil, false
}

// Record is like [Create], for a recording that begins with the past.
func (p *Past) Record(path string, h form.Header, limit int64) (*Recorder, error) {
	p.mu.Lock()
	now := time.Now()
	err := p.close() // the next change begins another chapter
	p.bound(now)
	kept := slices.Clone(p.chapters)
	p.mu.Unlock()
	if err != nil || len(kept) == 0 { // record without a past
		return Create(path, h, limit)
	}
	h.Began = kept[0].began
	r, err := Create(path, h, limit)
	if err != nil {
		return nil, err
	}
	r.marks.began = now // the past has its marks already
	if err := r.out.putPast(kept); err != nil {
		return nil, r.abandon(err)
	}
	r.state.Bytes = r.out.packed.Bytes()
	return r, nil
}
