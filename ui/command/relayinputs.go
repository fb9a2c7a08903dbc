package command

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"syscall"
	"time"

	"tillwatch/api"
	"tillwatch/relay"
)

// tokenInterval is how often a relay checks whether its tokens have changed, and how long that may take.
const tokenInterval = 2 * time.Second

// relayInputs reads what a running relay reloads: the secrets and its own token on SIGHUP, and the
// issued tokens also when they change.
type relayInputs struct {
	load      func() (settings, error)
	tokens    relay.TokenStore
	issued    []relay.Token // as last read
	owned     []api.Secret  // the tokens with every scope, as last read
	made      api.Secret    // for this run, if there was no other
	log       *slog.Logger
	hangup    chan os.Signal
	release   func() // stops catching SIGHUP
	complaint string // the last failure to read the tokens; "" for none
}

// newRelayInputs catches SIGHUP, which would end the process otherwise. In a terminal
// SIGHUP means that it was closed: then the returned context ends.
func newRelayInputs(ctx context.Context, load func() (settings, error), log *slog.Logger) (context.Context,
	*relayInputs) {
	in := &relayInputs{load: load, log: log, hangup: make(chan os.Signal, 1)}
	if inTerminal() {
		ctx, in.release = untilHangup(ctx)
		return ctx, in
	}
	signal.Notify(in.hangup, syscall.SIGHUP)
	in.release = func() { signal.Stop(in.hangup) }
	return ctx, in
}

// beginTokens reads the tokens that a relay starts with: its own, which have every
// scope, and the issued ones.
func (in *relayInputs) beginTokens(ctx context.Context, s settings, store relay.TokenStore) (own []api.Secret,
	issued []relay.Token, err error) {
	in.tokens = store
	if in.issued, err = in.readTokens(ctx); err != nil {
		return nil, nil, err
	}
	if s.RelayToken.IsZero() && len(in.issued) == 0 {
		in.made = api.NewSecret(rand.Text())
	}
	in.owned = in.own(s)
	return in.owned, in.issued, nil
}

func (in *relayInputs) readTokens(ctx context.Context) ([]relay.Token, error) {
	ctx, cancel := context.WithTimeout(ctx, tokenInterval)
	defer cancel()
	return in.tokens.Read(ctx)
}

// own are the tokens with every scope.
func (in *relayInputs) own(s settings) []api.Secret {
	if token := cmp.Or(s.RelayToken, in.made); !token.IsZero() {
		return []api.Secret{token}
	}
	return nil
}

// follow keeps r up to date until ctx ends or stop is called, which waits for it.
func (in *relayInputs) follow(ctx context.Context, r *relay.Relay) (stop func()) {
	return background(ctx, func(ctx context.Context) {
		ticker := time.NewTicker(tokenInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-in.hangup:
				in.reload(ctx, r)
			case <-ticker.C:
				in.refresh(ctx, r)
			}
		}
	})
}

// reload reads everything again. Whatever cannot be read or used stays as it was.
func (in *relayInputs) reload(ctx context.Context, r *relay.Relay) {
	in.refresh(ctx, r) // also where the settings cannot be read
	s, err := in.load()
	if err == nil {
		err = errors.Join(r.SetSigningSecrets(s.SigningSecrets()), in.setTokens(r, in.own(s), in.issued))
	}
	if err != nil {
		in.log.Error("reloading failed: whatever could not be read stays as it was", slog.String("error", err.Error()))
		return
	}
	in.log.Info("reloaded secrets and tokens")
}

// refresh reads the issued tokens and uses them if they have changed. A store that
// stays unreadable is logged once.
func (in *relayInputs) refresh(ctx context.Context, r *relay.Relay) {
	issued, err := in.readTokens(ctx)
	if err == nil && in.complaint == "" && reflect.DeepEqual(issued, in.issued) {
		return
	}
	if err == nil {
		err = in.setTokens(r, in.owned, issued)
	}
	switch {
	case err == nil:
		in.complaint = ""
		in.log.Info("reloaded the tokens")
	case ctx.Err() == nil && err.Error() != in.complaint:
		in.complaint = err.Error()
		in.log.Error("the tokens cannot be read: keeping the old ones", slog.String("error", in.complaint))
	}
}

func (in *relayInputs) setTokens(r *relay.Relay, owned []api.Secret, issued []relay.Token) error {
	if err := r.SetTokens(owned, issued); err != nil {
		return err
	}
	in.owned, in.issued = owned, issued
	return nil
}
