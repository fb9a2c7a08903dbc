package command

import (
	"strings"
	"time"

	"tillwatch/api"
)

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
