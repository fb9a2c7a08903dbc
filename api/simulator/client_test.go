package simulator_test

const clientKey = "shop/staging-fedcba9876543210"
