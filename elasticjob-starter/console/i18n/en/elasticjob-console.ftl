# Frame
skip-to-content = Skip to the content
navigation = Pages
read-only = read-only
log-out = Log out

# Login
log-in = Log in
login-name = Name
login-password = Password
login-wrong = The name or the password is wrong.
login-wait = Too many attempts. Try again in { $seconds } s.

# Errors
error-no-page = There is no such page
error-no-page-detail = The address is wrong, or the registry center is not one of this console, or you may not see it.
error-forbidden = You may not do that
error-registry-away = The registry center is not reached
error-problem = That did not work

# Jobs
jobs = Jobs
job = Job
status = Status
search = Search
filter = Filter
jobs-found = { $count ->
    [one] { $count } job
   *[other] { $count } jobs
}
