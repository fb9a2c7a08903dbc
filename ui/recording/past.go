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
	"tillwatch/api/account/form"
)

// How much of the past is kept: what a screen was fed in the last [PastSpan], packed,
// in [PastBytes] at most.
const (
	PastSpan  = 15 * time.Minute
	PastBytes = 16 << 20
)

const (
	pastAfter   = 5 * time.Second // a program that starts has better things to do
	pastGather  = time.Second     // the past is told in coarser steps than the present
	pastChapter = PastSpan / 3    // how much of it is let go at once
)

// Past keeps what a screen was fed of late, so that a recording can begin before
// somebody asked for it. What it keeps is what a file would hold, so it holds nothing
// that a file may not. While nothing changes it does nothing.
type Past struct {
	mu       sync.Mutex
	limit    int // in bytes
	out      *writer
	marks    marker
	into     *bytes.Buffer // what out writes to: the chapter under way
	began    time.Time     // of that chapter
	chapters []keptChapter
}

// keptChapter is a chapter that is written: a part of a file.
type keptChapter struct {
	began, ended time.Time
	packed       []byte
}

// NewPast makes an empty past.
func NewPast() *Past {
	p := &Past{limit: PastBytes, into: &bytes.Buffer{}}
	p.out = &writer{packed: form.NewWriter(p, gzip.BestSpeed)}
	p.out.frames.Put = p.out.put
	return p
}

// Write takes what out has packed.
func (p *Past) Write(packed []byte) (int, error) { return p.into.Write(packed) }

// Run keeps the past of a source until ctx ends. What goes wrong ends nothing but
// that.
func (p *Past) Run(ctx context.Context, source Source) {
	defer func() {
		if recover() != nil {
			p.letGo()
		}
	}()
	// As long as nothing changes there is nothing to record.
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

// errTooLarge says that the picture alone is more than may be kept.
var errTooLarge = errors.New("the picture is too large")

// take keeps what changed since a version.
func (p *Past) take(source Source, since uint64) (uint64, error) {
	c := source.Changes(since)
	p.mu.Lock()
	defer p.mu.Unlock()
	marks := p.marks.of(&c, since == 0)
	if p.out.begun {
		if err := p.out.tell(&c, source.Intent, marks); err != nil {
			return since, err
		}
	}
	if p.out.chapterDue() || c.At.Sub(p.began) >= pastChapter {
		if since > 0 {
			c = source.Changes(0) // as a recorder's chapter begins
			p.marks.of(&c, false)
		} else {
			p.marks.began = c.At
		}
		if err := p.close(); err != nil {
			return since, err
		}
		p.began = c.At
		if err := p.out.chapter(&c, source.Intent); err != nil {
			return since, err
		}
	}
	if p.bound(c.At) > p.limit {
		return since, errTooLarge
	}
	return c.Version, nil
}

// close ends the chapter under way.
func (p *Past) close() error {
	err := p.out.packed.EndPart()
	if p.out.begun && p.into.Len() > 0 {
		p.chapters = append(p.chapters, keptChapter{p.began, p.out.last, bytes.Clone(p.into.Bytes())})
	}
	p.into, p.out.begun = &bytes.Buffer{}, false
	return err
}

// bound lets go of the oldest: what is too old, and what is too much. It returns how
// many bytes are kept then.
func (p *Past) bound(now time.Time) int {
	bytes := p.into.Cap()
	for _, c := range p.chapters {
		bytes += len(c.packed)
	}
	for len(p.chapters) > 0 && (bytes > p.limit || now.Sub(p.chapters[0].ended) > PastSpan) {
		bytes -= len(p.chapters[0].packed)
		p.chapters = slices.Delete(p.chapters, 0, 1)
	}
	return bytes
}

func (p *Past) letGo() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chapters, p.into, p.out.begun = nil, &bytes.Buffer{}, false
}

// Record is [Create] for a recording that begins with what is kept of the past.
func (p *Past) Record(path string, h form.Header, limit int64) (*Recorder, error) {
	p.mu.Lock()
	now := time.Now()
	err := p.close() // the next change begins another chapter
	p.bound(now)
	kept := slices.Clone(p.chapters)
	p.mu.Unlock()
	if err != nil || len(kept) == 0 { // without what went wrong
		return Create(path, h, limit)
	}
	h.Began = kept[0].began
	r, err := Create(path, h, limit)
	if err != nil {
		return nil, err
	}
	r.marks.began = now // what was before is marked already
	if err := r.out.putPast(kept); err != nil {
		return nil, r.abandon(err)
	}
	r.state.Bytes = r.out.packed.Bytes()
	return r, nil
}
