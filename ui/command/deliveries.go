package command

import (
	"context"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/api/simulator"
)

// ofStandIn are the deliveries of the stand-in. It is [dashboard.Deliveries].
type ofStandIn struct {
	*delivery.Log
	service *simulator.Simulator
}

// Again implements [dashboard.Deliveries].
func (s ofStandIn) Again(_ context.Context, id api.ID) error { return s.service.Redeliver(id) }
