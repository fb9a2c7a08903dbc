package simulator_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

func Example() {
	service, err := simulator.New(simulator.Config{Key: api.NewSecret("any-key"), History: -1})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := service.CreateIntent(simulator.Order{ProductURL: "https://shop.example/magic/payment_failed", State: api.Failed})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(service.Handler())
	defer server.Close()
	request, err := http.NewRequest("GET", server.URL+"/api/v1/events/evt_"+id+"_failed", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	request.Header.Set("Authorization", "Bearer any-key")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	fmt.Println(response.StatusCode, response.Header.Values("Ratelimit"), len(body) > 0, err)
	// Output: 200 ["default";r=9;t=1] true <nil>
}
