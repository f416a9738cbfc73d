/** Pure: the platform's paginator layouts. Their addresses are for show, as on the platform: nobody is to follow them. */

export type Page = { page: number; limit: number; total: number; from: number; path: string }

const lastOf = ({ total, limit }: Page) => Math.max(1, Math.ceil(total / limit))
const link = (page: Page, number: number) =>
  number < 1 || number > lastOf(page) ? null : `${page.path}?page=${number}`

function bounds(page: Page, shown: number) {
  return { from: shown > 0 ? page.from + 1 : null, to: shown > 0 ? page.from + shown : null }
}

export function pageOf(path: string, total: number, page: number, limit: number): Page {
  return { path: `/api/${path}`, total, page, limit, from: (page - 1) * limit }
}

/** Where the rows are in the paginator itself: events, drivers, custom events. */
export function paginator<T>(page: Page, data: T[]) {
  return { ...compact(page), ...bounds(page, data.length), url: page.path, data }
}

/** The paginator laid flat beside `status`, as the older service and sensor lists have it. */
export function flatPaginator<T>(page: Page, data: T[]) {
  return {
    current_page: page.page,
    data,
    first_page_url: link(page, 1),
    ...bounds(page, data.length),
    last_page: lastOf(page),
    last_page_url: link(page, lastOf(page)),
    links: [],
    next_page_url: link(page, page.page + 1),
    path: page.path,
    per_page: page.limit,
    prev_page_url: link(page, page.page - 1),
    total: page.total,
    url: page.path,
    status: 1,
  }
}

/** The short one, beside `data` (newer lists) or beside numbered keys (groups). */
export function compact(page: Page) {
  return {
    total: page.total,
    per_page: page.limit,
    current_page: page.page,
    last_page: lastOf(page),
    next_page_url: link(page, page.page + 1),
    prev_page_url: link(page, page.page - 1),
  }
}
