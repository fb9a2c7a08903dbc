package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/dashboard"
)

// profiles are the sessions that use the terminal one after another: the first one
// and each profile that a person switches to. A session ends completely before the
// next takes over. It implements [dashboard.Profiles].
type profiles struct {
	flags   *pflag.FlagSet
	names   []string
	current string // "": an account without a profile

	mu    sync.Mutex
	ready *session // the next one, not taken yet
	taken bool
}

// Names implements [dashboard.Profiles].
func (p *profiles) Names() []string { return p.names }

// Current implements [dashboard.Profiles].
func (p *profiles) Current() string { return p.current }

// readyWithin limits how long preparing another profile may take.
const readyWithin = 10 * time.Second

// Prepare implements [dashboard.Profiles]. It requires the other relay to answer now,
// before the first session is gone.
func (p *profiles) Prepare(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	s, err := loadProfile(p.flags, name)
	if err == nil {
		err = errors.Join(s.checkTheme(), s.readWatchIDs(ctx, nil))
	}
	if err == nil && s.ProxyListen != "" {
		err = errors.New("it runs a proxy (proxy_listen): start tillwatch with this profile")
	}
	if err == nil {
		err = s.requireOwnAccount()
	}
	if err == nil {
		err = s.checkRelay(ctx)
	}
	if err != nil {
		return err
	}
	next, err := open(s, keeps)
	if err != nil {
		return err
	}
	p.drop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = next
	return nil
}

// Switch implements [dashboard.Profiles].
func (p *profiles) Switch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken = p.ready != nil
}

// next is the session that takes over; nil if none does.
func (p *profiles) next() *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.taken {
		return nil
	}
	next := p.ready
	p.ready, p.taken, p.current = nil, false, next.settings.Chosen
	return next
}

// drop closes a session that was prepared and not taken.
func (p *profiles) drop() {
	p.mu.Lock()
	unused := p.ready
	p.ready = nil
	p.mu.Unlock()
	if unused != nil {
		unused.close()
	}
}

// show shows a session, and then each that a person switches to, on one screen, and
// closes them all. Messages are printed after the screen is gone, unless it is stuck.
func (p *profiles) show(ctx context.Context, current *session, o screenOptions, in io.Reader, out io.Writer) error {
	var words bytes.Buffer
	stderr, screen := o.words, dashboard.NewScreen(in, out)
	defer func() {
		if !screen.Stuck() {
			_, _ = words.WriteTo(stderr)
		}
	}()
	o.words, o.screen, o.profiles = &words, screen, p
	var err error
	for err == nil && current != nil {
		err = current.show(ctx, o, in, out)
		current.close()
		current = p.next()
		o.record, o.at = recordOptions{}, "" // these belong to the first account
	}
	p.drop()
	return errors.Join(err, screen.Leave())
}

// ofAccount are the settings that belong to one account. Another account never takes
// them from flags or variables: they were meant for the first, whose key must not
// reach another service.
func ofAccount() []string {
	return []string{"api_url", "api_key", "api_key_file", "relay_url", "relay_token", "relay_token_file", "insecure_http",
		"allow_confirm", "confirm_body", "watch_id", "watch_ids", "proxy_listen", "filter"}
}

// requireOwnAccount refuses a profile for which the configuration file names no
// account.
func (s settings) requireOwnAccount() error {
	var wrong, missing string
	switch {
	case s.APIURL == "":
		wrong, missing = "no service is configured", "api_url"
	case s.APIKey.IsZero():
		wrong, missing = "no API key is configured", "api_key_file"
	case s.RelayURL != "" && s.RelayToken.IsZero():
		wrong, missing = "a relay is configured without its token", "relay_token_file"
	default:
		return nil
	}
	return usagef("%s: set %s in [profile.%s]; when you switch profiles, only the configuration file counts", wrong, missing, s.Chosen)
}

// checkRelay reads from the configured relay, if there is one.
func (s settings) checkRelay(ctx context.Context) error {
	if s.RelayURL == "" {
		return nil
	}
	reader, err := newReader(s)
	if err != nil {
		return err
	}
	defer reader.Close()
	_, err = reader.Head(ctx, 0)
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*relay.RefusedError)):
		return fmt.Errorf("its relay: %s", api.Scrub(err.Error()))
	}
	return fmt.Errorf("its relay: %s; start it, or correct relay_url in [profile.%s]", api.Scrub(err.Error()), s.Chosen)
}
