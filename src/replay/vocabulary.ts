/** The words that stay in a recording. */

/** Words of the platform's own English texts. They identify no account, so they are not replaced. */
export const vocabulary = new Set(
  `a acceleration ack alarm am and api attempts authenticated battery brake braking circle connected credentials custom data date days db device devices distance door drive driver drivers duration
   end engine error errors event events expired expires false feet field found from fuel gallon get gps gsm h harsh has history hours id idle ignition in inactive
   invalid is kilometer left liter liters many meter mile min minutes more moving mt network no none not odometer of off offline on online
   out overspeed page pm polygon required s satellites selected sensor services sim sos speed start status stop tag temperature the theft time to too true
   unauthorized unauthenticated ungrouped user utc valid value volts was wrong zone`.split(/\s+/),
)

/** Units after a number. */
export const unit = 'kph|km\\/h|mph|km|mi|mt?|ft|lt?|gl|liters?|litres?|rpm|v|h|min|s|d|%|°c|°f|hours?|days?|kmh'
