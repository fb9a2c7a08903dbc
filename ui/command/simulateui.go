package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
)

// simulateOnScreen runs the stand-in behind a board on its own side, until a person
// leaves the board.
func simulateOnScreen(c *cobra.Command, s settings, o simulateOptions) error {
	switch {
	case o.json, o.verbose:
		return usagef("--ui does not go with --json or --verbose")
	case o.production.listen != "":
		return usagef("--ui shows one environment: leave --production-listen out")
	}
	if err := errors.Join(s.checkTheme(), requireTerminal(c, "tillwatch simulate without --ui, and tillwatch console")); err != nil {
		return err
	}
	ctx, release := untilHangup(c.Context())
	defer release()
	o.screen.noColor, o.screen.words = colourless(c), c.ErrOrStderr()
	return o.behindBoard(ctx, s, c.InOrStdin(), c.OutOrStdout())
}

// behindBoard runs the stand-in until a person leaves the board. The board sees the
// stand-in's own side: its reads are neither charged nor counted.
func (o simulateOptions) behindBoard(ctx context.Context, s settings, in io.Reader, out io.Writer) error {
	folder, err := os.MkdirTemp("", "tillwatch-simulate-")
	if err != nil {
		return fmt.Errorf("making a folder for the board: %w", err)
	}
	defer os.RemoveAll(folder)
	o.ui, o.screen.at = true, "deliveries"
	o.boardKey = api.NewSecret(rand.Text())
	board := defaults()
	board.LastingDir, board.StateDir, board.Theme = s.StateDir, folder, s.Theme
	board.APIKey, board.LookupPath, board.ConfirmBody = o.boardKey, s.LookupPath, s.ConfirmBody
	board.OwnStandIn, board.InsecureHTTP, board.AllowConfirm, board.PollEvery = true, true, true, time.Second
	board.atSpeed(o.simulator.Speed)
	show := func(ctx context.Context, e *standIn) error {
		board.APIURL = address(e.listener)
		board.DayLimit, board.AgentsLimit = limitOr(e.config.Limits.PerDay, board.DayLimit), limitOr(e.config.Limits.Agents, board.AgentsLimit)
		current, err := open(board, forgets)
		if err != nil {
			return err
		}
		defer current.close()
		current.standIn = e.service
		return current.show(ctx, o.screen, in, out)
	}
	return runSimulate(ctx, s, o, show, out, io.Discard) // the board shows what the log would say
}

// limitOr is a limit of the stand-in: 0 is its default, a negative number none.
func limitOr(limit, usual int) int {
	switch {
	case limit == 0:
		return usual
	case limit < 0:
		return mostLimit
	}
	return limit
}
