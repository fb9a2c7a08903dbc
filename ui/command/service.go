package command

import (
	"context"
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// tellManager tells the service manager that started this process, such as systemd, that it is
// ready, in time that it lives, if the manager asks for that, and once ctx ends that it is
// stopping. end waits for that.
func tellManager(ctx context.Context, status string, log *slog.Logger) (end func()) {
	tell := func(state string) {
		if _, err := daemon.SdNotify(false, state); err != nil {
			log.Error("notifying the service manager failed", slog.String("error", err.Error()))
		}
	}
	tell(daemon.SdNotifyReady + "\nSTATUS=" + status)
	within, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Error("the service manager's watchdog cannot be told", slog.String("error", err.Error()))
	}
	return background(ctx, func(ctx context.Context) {
		var beat <-chan time.Time
		if within > 0 {
			ticker := time.NewTicker(within / 4)
			defer ticker.Stop()
			beat = ticker.C
		}
		for {
			select {
			case <-beat:
				tell(daemon.SdNotifyWatchdog)
			case <-ctx.Done():
				tell(daemon.SdNotifyStopping + "\nSTATUS=Shutting down")
				return
			}
		}
	})
}
