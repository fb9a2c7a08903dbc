package pane

import (
	"testing"

	"tillwatch/ui/dashboard/paint"
)

func TestTextsThatAreCutCanBeToldApart(t *testing.T) {
	for _, texts := range [][]string{
		{"https://shop.example/hooks/eu", "https://shop.example/hooks/us"},
		{"https://staging.shop.example/hooks", "https://staging.shed.example/hooks", "127.0.0.1:3000/webhooks"},
		{"https://eu.shop.example/hooks/1", "https://eu.shop.example/hooks/2", "https://us.shop.example/hooks/1", "https://us.shop.example/hooks/2"},
		{"https://shop.example/a/hooks/in", "https://shop.example/b/hooks/in", "127.0.0.1:3000/webhooks"},
	} {
		seen := map[string]string{}
		for _, text := range texts {
			got := paint.Spans{{Text: apart(text, texts, 16)}}.Cut(16)[0].Text
			if before, ok := seen[got]; ok {
				t.Errorf("%q and %q are both cut to %q", before, text, got)
			}
			seen[got] = text
		}
	}
}
