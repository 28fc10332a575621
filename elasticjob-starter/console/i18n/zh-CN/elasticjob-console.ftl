# Frame
skip-to-content = 跳到正文
navigation = 页面
read-only = 只读
log-out = 退出登录

# Login
log-in = 登录
login-name = 用户名
login-password = 密码
login-wrong = 用户名或密码错误。
login-wait = 尝试次数过多，请在 { $seconds } 秒后重试。

# Errors
error-no-page = 没有这个页面
error-no-page-detail = 地址有误，或本控制台没有该注册中心，或您无权查看。
error-forbidden = 您没有权限
error-registry-away = 无法连接注册中心
error-problem = 操作未成功

# Jobs
jobs = 作业
job = 作业
status = 状态
search = 搜索
filter = 筛选
jobs-found = 共 { $count } 个作业
