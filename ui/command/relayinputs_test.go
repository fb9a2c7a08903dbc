package command

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/relay/journal/sqlite"
)

// A revoked token must not stay valid because something else is broken.
func TestATokenIsRevokedWhileTheSettingsCannotBeRead(t *testing.T) {
	ctx, store := t.Context(), relay.NewTokenFile(t.TempDir())
	text, laptop := relay.NewToken("laptop", []relay.Scope{relay.ScopeRead}, time.Now(), time.Time{})
	if err := store.Add(ctx, laptop); err != nil {
		t.Fatal(err)
	}
	own := settings{RelayToken: api.NewSecret("a token with every scope")}
	in := &relayInputs{
		load: func() (settings, error) { return settings{}, errors.New("the settings are damaged") },
		log:  slog.New(slog.DiscardHandler),
	}
	events, err := sqlite.Open(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	config := relay.Config{Journal: events, SigningSecrets: []api.Secret{api.NewSecret("a long signing secret")}}
	if config.Tokens, config.Issued, err = in.beginTokens(ctx, own, store); err != nil {
		t.Fatal(err)
	}
	r, err := relay.New(config)
	if err != nil {
		t.Fatal(err)
	}
	status := func(token api.Secret) int {
		request := httptest.NewRequest(http.MethodGet, relay.EventsPath, nil)
		request.Header.Set("Authorization", "Bearer "+token.Reveal())
		answer := httptest.NewRecorder()
		r.Handler().ServeHTTP(answer, request)
		return answer.Code
	}
	if got := status(text); got != http.StatusOK {
		t.Errorf("an issued token: %d", got)
	}
	if err := store.Remove(ctx, "laptop"); err != nil {
		t.Fatal(err)
	}
	in.refresh(ctx, r)
	if got := status(text); got != http.StatusUnauthorized {
		t.Errorf("a revoked token: %d", got)
	}
	if got := status(own.RelayToken); got != http.StatusOK {
		t.Errorf("the relay's own token: %d", got)
	}
}
