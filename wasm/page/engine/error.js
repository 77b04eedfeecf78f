// EngineError is every rejection of the engine; README.md lists the codes.
export class EngineError extends Error {
  constructor({ code = 'failed', message = '', hint = '', flag = '', formats = [] }, report = null) {
    super(message)
    this.name = 'EngineError'
    Object.assign(this, { code, hint, flag, formats, report })
  }
}

export const cancelled = () => new EngineError({ code: 'cancelled', message: 'cancelled' })
