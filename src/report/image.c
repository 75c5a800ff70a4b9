/* Figures as files: SVG as it is, PNG and PDF through librsvg and cairo. */
#include <cairo-pdf.h>
#include <cairo.h>
#include <dlfcn.h>
#include <librsvg/rsvg.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/file.h"
#include "idm/plot.h"

/* Pixels of an image by those of the page: sharp on screens and in print. */
static const double magnification = 2;

/* What an image needs of librsvg, and of cairo and GObject, which come with it. They are loaded
   with the first image: fifty libraries stand behind them, and a program that links them spends a
   third of a small problem's time on its start. */
#define PENS(X)                                                                                    \
  X(rsvg_handle_new_from_data)                                                                     \
  X(rsvg_handle_get_intrinsic_size_in_pixels)                                                      \
  X(rsvg_handle_render_document)                                                                   \
  X(cairo_create)                                                                                  \
  X(cairo_scale)                                                                                   \
  X(cairo_destroy)                                                                                 \
  X(cairo_pdf_surface_create_for_stream)                                                           \
  X(cairo_image_surface_create)                                                                    \
  X(cairo_surface_write_to_png_stream)                                                             \
  X(cairo_surface_finish)                                                                          \
  X(cairo_surface_status)                                                                          \
  X(cairo_surface_destroy)                                                                         \
  X(g_object_unref)

static const char pens_library[] = "librsvg-2.so.2";

static struct {
#define PEN(name) __typeof__(name) *(name);
  PENS(PEN)
#undef PEN
  bool ready;
} pens;

static pthread_once_t pens_asked = PTHREAD_ONCE_INIT;

static void load_pens(void)
{
  void *library = dlopen(pens_library, RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  pens.ready = true;
#define PEN(name)                                                                                  \
  {                                                                                                \
    void *address = dlsym(library, #name);                                                         \
    memcpy(&pens.name, &address, sizeof pens.name);                                                \
    pens.ready = pens.ready && address;                                                            \
  }
  PENS(PEN)
#undef PEN
}

static bool ends_with(const char *path, const char *ending)
{
  const size_t length = strlen(path), tail = strlen(ending);
  return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

static idm_status write_text(char *text, const char *path, idm_error *opt_error)
{
  idm_file *file;
  const idm_status status = idm_file_create(path, &file, opt_error);
  if (status == IDM_OK) idm_file_write(file, text, strlen(text));
  free(text);
  return status == IDM_OK ? idm_file_commit(file, opt_error) : status;
}

static cairo_status_t take_bytes(void *closure, const unsigned char *data, unsigned int length)
{
  idm_file_write(closure, (const char *)data, length);
  return CAIRO_STATUS_SUCCESS;
}

static bool render(RsvgHandle *handle, cairo_surface_t *surface, double width, double height,
                   double scale)
{
  const RsvgRectangle whole = {0, 0, width, height};
  cairo_t *cairo = pens.cairo_create(surface);
  pens.cairo_scale(cairo, scale, scale);
  const bool drawn = pens.rsvg_handle_render_document(handle, cairo, &whole, NULL);
  pens.cairo_destroy(cairo);
  return drawn;
}

/* What the drawing itself says of its size; points of a page are 1/72 inch, pixels 1/96. */
static bool draw(RsvgHandle *handle, bool pdf, idm_file *file)
{
  gdouble width = 0, height = 0;
  if (!pens.rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height)) return false;
  cairo_surface_t *surface =
      pdf ? pens.cairo_pdf_surface_create_for_stream(take_bytes, file, 0.75 * width, 0.75 * height)
          : pens.cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)(magnification * width),
                                            (int)(magnification * height));
  bool drawn = render(handle, surface, width, height, pdf ? 0.75 : magnification);
  if (drawn && !pdf)
    drawn =
        pens.cairo_surface_write_to_png_stream(surface, take_bytes, file) == CAIRO_STATUS_SUCCESS;
  pens.cairo_surface_finish(surface);
  drawn = drawn && pens.cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS;
  pens.cairo_surface_destroy(surface);
  return drawn;
}

static idm_status write_image(char *text, bool pdf, const char *path, idm_error *opt_error)
{
  idm_file *file = NULL;
  pthread_once(&pens_asked, load_pens);
  if (!pens.ready) {
    free(text);
    return idm_fail(opt_error, IDM_SYSTEM,
                    "%s: images need librsvg (%s), which this machine lacks; .svg works without it",
                    path, pens_library);
  }
  RsvgHandle *handle = pens.rsvg_handle_new_from_data((const guint8 *)text, strlen(text), NULL);
  idm_status status = handle ? idm_file_create(path, &file, opt_error)
                             : idm_fail(opt_error, IDM_SYSTEM, "%s: cannot be drawn", path);
  if (status == IDM_OK && !draw(handle, pdf, file)) {
    status = idm_fail(opt_error, IDM_SYSTEM, "%s: cannot be drawn", path);
    idm_file_abandon(file);
    file = NULL;
  }
  if (status == IDM_OK) status = idm_file_commit(file, opt_error);
  if (handle) pens.g_object_unref(handle);
  free(text);
  return status;
}

idm_status idm_figure_write(const idm_figure *figure, const idm_figure_look *look, const char *path,
                            idm_error *opt_error)
{
  idm_require(figure, look, path);
  const bool pdf = ends_with(path, ".pdf");
  const bool image = pdf || ends_with(path, ".png");
  idm_figure_look fixed = *look;
  char *text;
  /* Paper and pixels have no reader whose wish they know. */
  if (image && fixed.theme == IDM_THEME_AUTO) fixed.theme = IDM_THEME_LIGHT;
  const idm_status status = idm_figure_svg(figure, &fixed, &text, opt_error);
  if (status != IDM_OK) return status;
  return image ? write_image(text, pdf, path, opt_error) : write_text(text, path, opt_error);
}

idm_status idm_figure_write_csv(const idm_figure *figure, const char *path, idm_error *opt_error)
{
  idm_require(figure, path);
  char *text;
  const idm_status status = idm_figure_csv(figure, &text, opt_error);
  return status == IDM_OK ? write_text(text, path, opt_error) : status;
}
