package command

import (
	"cmp"
	"runtime"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// markdown is the intent for a colleague or the service's support. Times are in UTC,
// as the reader may be anywhere.
func (l *intentLine) markdown() string {
	var m strings.Builder
	in := l.shown()
	m.WriteString(strings.TrimSuffix("# "+sign.Intent(in.State).Glyph+" "+marked(cmp.Or(wording.Name(string(in.State)), "unknown"))+" · "+marked(string(in.Product)), " · ") + "\n\n")
	if l.Personal {
		m.WriteString("**Personal data of the buyer is shown.** Payment tokens are masked.\n\n")
	} else {
		m.WriteString("The buyer and payment tokens are masked.\n\n")
	}
	about := intentSections{l, time.UTC, utc, marked}
	for _, part := range append(about.all(), section{"Requests", about.requests()}, section{"Made by", []fact{
		{"tillwatch", marked(l.Program) + ", on " + runtime.GOOS + "/" + runtime.GOARCH}, {"At", utc(l.MadeAt)}, {"Interface of the service", "/api/v1"},
	}}) {
		m.WriteString(part.markdown())
	}
	return m.String()
}

// markdown is the section as a list below its title; "" if there is nothing in it.
func (s section) markdown() string {
	var list string
	for _, f := range s.facts {
		if f.value != "" {
			list += "- " + strings.TrimPrefix(f.label+": "+f.value, ": ") + "\n"
		}
	}
	if list != "" && s.title != "" {
		return "\n## " + s.title + "\n\n" + list
	}
	return list
}

// utc is a time in UTC; "" if it is not known.
func utc(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// marked escapes remote text for Markdown: text that could mean anything there, even
// a link, becomes code.
func marked(text string) string {
	for i, r := range text {
		switch {
		case r == ' ', r == ',', r == '-', r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r > 0x9f:
		case (r == '.' || r == ':') && (i+1 == len(text) || text[i+1] == ' ' || r == '.' && '0' <= text[i+1] && text[i+1] <= '9'):
		default:
			return coded(text)
		}
	}
	return strings.TrimSpace(text)
}

// coded is text as code.
func coded(text string) string {
	text = strings.TrimSpace(string(api.Scrub(text)))
	if text == "" {
		return ""
	}
	fence, run := "`", 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		if run >= len(fence) {
			fence = strings.Repeat("`", run+1)
		}
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}
