package bridge

import (
	"context"
	"errors"
)

func (s *session) view(ctx context.Context, m message) (any, []byte, error) {
	return nil, nil, errors.New("TODO")
}
